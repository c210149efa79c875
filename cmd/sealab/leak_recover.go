package main

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"sealab/bench"
	"sealab/bench/leak"
)

func newLeakRecoverCommand() *cobra.Command {
	var seed uint64
	var samples int
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "Forge a token from timings alone, against the control that compares byte by byte",
		Long: `Forge a token against the control whose comparison stops at the first byte that
differs: find its tag byte by byte from the time of refusals, in this process, and
present it. It shows what a leak is worth, and is an attack on nothing else.

It takes some minutes on a machine with nothing else to do. The status is 1 when
the forged token verifies, since that is what refutes the control.`,
		Example: `  sealab leak recover
  sealab leak recover --seed 7 --samples 200000000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return leakRecover(cmd, seed, samples) },
	}
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the server's key and of the attacker's choices")
	cmd.Flags().IntVar(&samples, "samples", 200_000_000, "give up after that many measurements")
	return cmd
}

func leakRecover(cmd *cobra.Command, seed uint64, samples int) error {
	if samples < 1 {
		return fmt.Errorf("sealab: --samples %d: want at least 1", samples)
	}
	const tagBytes = 32
	progress := newProgress(cmd.ErrOrStderr())
	r, err := leak.Recover(seed, samples, func(known int, _ leak.Recovery) {
		progress.show(bench.Progress{Stage: "recovering", Done: known, Total: tagBytes})
	})
	progress.end()
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%d samples, %d tokens presented, %d bytes given up again\n", r.Samples, r.Ops, r.StepBack)
	if errors.Is(err, leak.ErrTooManySamples) {
		fmt.Fprintln(out, "unexercised: no tag found; the machine is too noisy or --samples too small")
		return nil
	}
	if err != nil {
		return err
	}
	token := base64.RawURLEncoding.EncodeToString(append(r.Message, r.Tag...))
	fmt.Fprintf(out, "the forged token verifies: %s\n", token)
	return errRefuted
}
