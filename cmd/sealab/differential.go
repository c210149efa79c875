package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"sealab/codecs/catalog"
	"sealab/codecs/sdk"
	"sealab/codecs/worker"
	"sealab/fuzz/differential"
	"sealab/internal/cli"
)

// differentialFlags are the flags of sealab differential.
type differentialFlags struct {
	peer  string
	seed  uint64
	count int
	show  int // disagreements and misbehaviours of a peer; 0: all
}

func newDifferentialCommand() *cobra.Command {
	var flags differentialFlags
	cmd := &cobra.Command{
		Use:   "differential",
		Short: "Compare each real SDK with the design that mirrors it, live",
		Long: `Compare each installed peer with the design of the catalog that mirrors it: mint
here and verify there and the other way round, alter tokens as text and inside,
change contexts, times and rings, and compare verdict, stage, reason and state.

A disagreement is printed as a line that sealab check replays: what the peer
answered to what, and in its note what the design here answers. The first ones
of each peer are printed, all with --show 0. The exit
status is 1 where there is one. A peer that is not installed is skipped, and
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
			return compareAll(cmd.OutOrStdout(), cmd.ErrOrStderr(), peers, flags)
		},
	}
	cmd.Flags().StringVar(&flags.peer, "peer", "", "only this peer")
	cmd.Flags().Uint64Var(&flags.seed, "seed", 0, "seed of everything random (default: the time)")
	cmd.Flags().IntVar(&flags.count, "count", 20000, "tokens to present to each peer")
	cmd.Flags().IntVar(&flags.show, "show", 10, "print this many disagreements with each peer; 0: all")
	return cmd
}

// choosePeers returns the peer called name, or all that are installed where name
// is empty.
func choosePeers(name string, notes io.Writer) ([]sdk.Peer, error) {
	if name == "" {
		peers, err := sdk.Peers(".")
		return installed(peers, notes), err
	}
	p, err := sdk.Find(".", name)
	return []sdk.Peer{p}, err
}

func compareAll(out, notes io.Writer, peers []sdk.Peer, flags differentialFlags) error {
	disagreed := 0
	for _, p := range peers {
		n, err := comparePeer(out, notes, p, flags)
		if err != nil {
			return err
		}
		disagreed += n
	}
	if disagreed > 0 {
		return cli.ErrRefuted
	}
	return nil
}

// comparePeer returns the number of disagreements with one peer.
func comparePeer(out, notes io.Writer, p sdk.Peer, flags differentialFlags) (int, error) {
	here, err := catalog.Find(p.Mirrors)
	if err != nil {
		return 0, fmt.Errorf("sealab: peer %s: %w", p.Name, err)
	}
	client, err := p.Dial(worker.Limits{})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	shown := 0
	tally, err := differential.Run{
		Here: here, There: client.Design(), Seed: flags.seed, Count: flags.count,
		Found: func(d differential.Disagreement) error {
			if shown++; flags.show > 0 && shown > flags.show {
				return nil
			}
			return printDisagreement(out, d)
		},
	}.Do()
	printEvents(out, notes, client, flags.show)
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

// printEvents prints what a peer did beside its answers, and to notes what it said
// when it broke for the first time.
func printEvents(out, notes io.Writer, client *worker.Client, show int) {
	events := client.Events()
	for i, e := range events {
		if i == 0 {
			explain(notes, &worker.FaultError{Worker: client.Hello().Name, Event: e})
		}
		if show > 0 && i == show {
			fmt.Fprintf(out, "and %d more\n", len(events)-show)
			return
		}
		fmt.Fprintf(out, "%s %s: %s; after %.200s\n", client.Hello().Name, e.Kind, e.Detail, e.Input)
	}
}
