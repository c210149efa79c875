package fuzz

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"sealab/cmd/sealab/internal/subject"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/sdk"
	"sealab/codecs/worker"
	"sealab/fuzz/differential"
	"sealab/internal/cli"
	"sealab/internal/lab"
)

// differentialFlags are the flags of the command.
type differentialFlags struct {
	sdk      string
	seed     uint64
	count    int
	outcomes cli.Outcomes
	show     int // maximum number of disagreements and events shown per SDK; 0: all
	// libraries also compares the libraries that agree with a design.
	libraries bool
	edges     bool
}

// NewDifferential returns the command "differential".
func NewDifferential() *cobra.Command {
	var flags differentialFlags
	cmd := &cobra.Command{
		Use:   "differential",
		Short: "Compare each installed SDK with the design that mirrors it",
		Long: `Compare each installed SDK with the design of the catalog that mirrors it. Mint
with one and verify with the other, in both directions; alter the text and the
contents of tokens; change contexts, times and rings. Compare verdict, stage,
reason and state.

With --libraries, also compare the verdict and the state of libraries that share
a format with a design. With --edges, present some thousands of prepared tokens
for each configuration: every spelling of each claim, text and time.

A disagreement is printed as a line for "sealab replay": the question, the SDK's
answer and, in the note, the design's answer. An SDK that is not installed is
skipped, unless --sdk names it.

Exit status: 1 if there is a disagreement, 2 if an SDK broke the protocol or
could not be asked, or if none is installed.`,
		Example: `  sealab fuzz differential
  sealab fuzz differential --sdk mcp-py-sdk --seed 7 --count 100000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("seed") {
				flags.seed = uint64(time.Now().UnixNano())
			}
			out := flags.outcomes.Begin(cmd)
			sdks, err := chooseSDKs(flags.sdk, flags.libraries, out)
			if err != nil {
				return err
			}
			return flags.outcomes.End(compareAll(out, cmd.ErrOrStderr(), sdks, &flags))
		},
	}
	cmd.Flags().StringVar(&flags.sdk, "sdk", "", "compare only the SDK of this `name`")
	cli.RenameFlag(cmd, "peer", "sdk")
	cmd.Flags().BoolVar(&flags.libraries, "libraries", false, "also compare the libraries that share a format with a design")
	cmd.Flags().BoolVar(&flags.edges, "edges", false, "present prepared tokens: every spelling of each claim, text and time")
	cmd.Flags().Uint64Var(&flags.seed, "seed", 0, "`seed` of all random choices (default: the time)")
	cmd.Flags().IntVar(&flags.count, "count", 20000, "present this `number` of tokens to each SDK")
	flags.outcomes.AddFlags(cmd)
	cmd.Flags().IntVar(&flags.show, "show", 10, "print this `number` of disagreements with each SDK (0: all)")
	return cmd
}

// chooseSDKs returns the named SDK or, if name is empty, all installed ones.
// libraries adds those that agree with a design.
func chooseSDKs(name string, libraries bool, notes io.Writer) ([]sdk.SDK, error) {
	if name == "" {
		of := sdk.Mirrors
		if libraries {
			of = sdk.Compared
		}
		sdks, err := of(".")
		return subject.Installed(sdks, notes), err
	}
	s, err := sdk.Find(".", name)
	if err == nil && s.Mirrors == "" && s.Agrees.Design == "" {
		return nil, fmt.Errorf("SDK %s mirrors no design and agrees with none: there is nothing to compare it with", name)
	}
	return []sdk.SDK{s}, err
}

func compareAll(out, notes io.Writer, sdks []sdk.SDK, flags *differentialFlags) error {
	if len(sdks) == 0 {
		return fmt.Errorf("nothing was compared: no SDK is installed; install them with: make sdks")
	}
	disagreed := 0
	for _, s := range sdks {
		n, err := compareSDK(out, notes, s, flags)
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

// compareSDK compares one SDK with its design and returns the number of
// disagreements.
func compareSDK(out, notes io.Writer, s sdk.SDK, flags *differentialFlags) (int, error) {
	here, err := mirroredDesign(s)
	if err != nil {
		return 0, fmt.Errorf("SDK %s: %w", s.Name, err)
	}
	client, err := s.Dial(worker.Limits{})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	shown := 0
	tally, err := differential.Run{
		Here: here, There: client.Design(), Seed: flags.seed, Count: flags.count, Verdicts: s.Mirrors == "", TextKeys: s.Agrees.Keys == "text", Edges: flags.edges,
		Found: func(d differential.Disagreement) error {
			if shown++; flags.show > 0 && shown > flags.show {
				return nil
			}
			line, err := d.Line()
			if err == nil {
				_, err = fmt.Fprintf(out, "%s\n", line)
			}
			return err
		},
	}.Do()
	printEvents(out, notes, client, flags.show)
	if err != nil {
		return 0, err
	}
	if err := subject.ProtocolBreach(client, s.Name); err != nil {
		return 0, err
	}
	fmt.Fprintf(out, "%s against %s, seed %d: %s\n", here.Name, client.Design().Spec, flags.seed, tally)
	flags.outcomes.Ask(s.Name, here.Name, outcomeOf(tally.Disagreed), fmt.Sprintf("seed %d: %s", flags.seed, tally))
	return tally.Disagreed, nil
}

// mirroredDesign returns the design that an SDK mirrors or agrees with.
func mirroredDesign(s sdk.SDK) (codecs.Design, error) {
	if s.Mirrors != "" {
		return catalog.Find(s.Mirrors)
	}
	d, err := catalog.Find(s.Agrees.Design)
	return lab.With(d, s.Agrees.Options), err
}

// printEvents prints the events of an SDK to out. It prints the end of the
// SDK's standard error at its first fault to notes.
func printEvents(out, notes io.Writer, client *worker.Client, show int) {
	events := client.Events()
	for i, e := range events {
		if i == 0 {
			subject.PrintError(notes, &worker.FaultError{Worker: client.Hello().Name, Event: e})
		}
		if show > 0 && i == show {
			fmt.Fprintf(out, "and %d more\n", len(events)-show)
			return
		}
		fmt.Fprintf(out, "%s %s: %s; after %.200s\n", client.Hello().Name, e.Kind, e.Detail, e.Input)
	}
}
