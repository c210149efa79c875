package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"sealab/codecs/catalog"
	"sealab/codecs/foreign"
	"sealab/codecs/worker"
	"sealab/fuzz/differential"
)

// differentialFlags are the flags of sealab differential.
type differentialFlags struct {
	peer  string
	seed  uint64
	count int
}

func newDifferentialCommand() *cobra.Command {
	var flags differentialFlags
	cmd := &cobra.Command{
		Use:   "differential",
		Short: "Compare each real SDK with the design that mirrors it, live",
		Long: `Compare each installed peer with the design of the catalog that mirrors it: mint
here and verify there and the other way round, alter tokens as text and inside,
change contexts, times and rings, and compare verdict, stage, reason and state.

Every disagreement is printed as a line that sealab check replays. The exit
status is 1 where there is one. A peer that is not installed is unexercised, and
a fault where it was asked for.`,
		Example: `  sealab differential
  sealab differential --peer mcp-py-sdk --seed 7 --count 100000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("seed") {
				flags.seed = uint64(time.Now().UnixNano())
			}
			peers, err := choosePeers(flags.peer, cmd.OutOrStdout())
			if err != nil {
				return err
			}
			return compareAll(cmd.OutOrStdout(), peers, flags)
		},
	}
	cmd.Flags().StringVar(&flags.peer, "peer", "", "only this peer")
	cmd.Flags().Uint64Var(&flags.seed, "seed", 0, "seed of everything random (default: the time)")
	cmd.Flags().IntVar(&flags.count, "count", 20000, "tokens to present to each peer")
	return cmd
}

// choosePeers returns the peer called name, or all that are installed where name
// is empty.
func choosePeers(name string, notes io.Writer) ([]foreign.Peer, error) {
	if name == "" {
		peers, err := foreign.Peers(".")
		return installed(peers, notes), err
	}
	p, err := foreign.Find(".", name)
	return []foreign.Peer{p}, err
}

func compareAll(out io.Writer, peers []foreign.Peer, flags differentialFlags) error {
	disagreed := 0
	for _, p := range peers {
		n, err := comparePeer(out, p, flags)
		if err != nil {
			return err
		}
		disagreed += n
	}
	if disagreed > 0 {
		return errRefuted
	}
	return nil
}

// comparePeer returns the number of disagreements with one peer.
func comparePeer(out io.Writer, p foreign.Peer, flags differentialFlags) (int, error) {
	here, err := catalog.Find(p.Mirrors)
	if err != nil {
		return 0, fmt.Errorf("sealab: peer %s: %w", p.Name, err)
	}
	client, err := p.Dial(worker.Limits{})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	tally, err := differential.Run{
		Here: here, There: client.Design(), Seed: flags.seed, Count: flags.count,
		Found: func(d differential.Disagreement) error { return printDisagreement(out, d) },
	}.Do()
	for _, e := range client.Events() {
		fmt.Fprintf(out, "%s %s: %s; after %.200s\n", p.Name, e.Kind, e.Detail, e.Input)
	}
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(out, "%s against %s, seed %d: %s\n", here.Name, client.Design().Spec, flags.seed, tally)
	return tally.Disagreed, nil
}

func printDisagreement(out io.Writer, d differential.Disagreement) error {
	line, err := d.Line()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", line)
	return err
}
