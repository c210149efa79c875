package main

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"sealab/bench/timing"
	"sealab/internal/cli"
	"sealab/internal/verdict"
)

func newLeakRecoverCommand() *cobra.Command {
	var seed uint64
	var samples int
	var asked outcomes
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "Forge a token from timings alone, against a comparison that ends early",
		Long: `Forge a token against a control in this process that compares tags in
hexadecimal, whatever their case, and stops at the first digit that differs:
find the tag digit by digit from the time of refusals, and present it. It shows
what a leak is worth, and is an attack on nothing else.

It takes some minutes on a machine with nothing else to do. The status is 1 when
the forged token verifies, which refutes the control, and 2 when no tag was
found.`,
		Example: `  sealab leak recover
  sealab leak recover --seed 7 --samples 200000000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return leakRecover(cmd, &asked, seed, samples) },
	}
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the server's key and of the attacker's choices")
	cmd.Flags().IntVar(&samples, "samples", 200_000_000, "give up after that many measurements")
	asked.add(cmd)
	return cmd
}

func leakRecover(cmd *cobra.Command, asked *outcomes, seed uint64, samples int) error {
	if samples < 1 {
		return fmt.Errorf("--samples %d: want at least 1", samples)
	}
	progress := newProgress(cmd.ErrOrStderr())
	r, err := timing.Recover(seed, samples, func(known, of int, _ timing.Recovery) {
		progress.show("recovering", known, of)
	})
	progress.end()
	out := asked.begin(cmd)
	const subject, name = "comparison that ends early", "forge a token by timing"
	fmt.Fprintf(out, "%d samples, %d tokens presented, %d digits given up again\n", r.Samples, r.Ops, r.StepBack)
	if errors.Is(err, timing.ErrTooManySamples) {
		failed := errors.New("not tested: no tag found; the machine is too noisy or --samples too small")
		asked.ask(subject, name, verdict.NotTested, failed.Error())
		return asked.end(failed)
	}
	if err != nil {
		return err
	}
	token := base64.RawURLEncoding.EncodeToString(r.Message) + "." + string(r.Tag)
	fmt.Fprintf(out, "the forged token verifies: %s\n", token)
	asked.ask(subject, name, verdict.Refuted, "the forged token verifies: "+token)
	return asked.end(cli.ErrRefuted)
}
