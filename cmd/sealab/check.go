package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sealab/codecs/catalog"
	"sealab/codecs/verdictfile"
	"sealab/internal/cli"
)

func newCheckCommand() *cobra.Command {
	var shown int
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Replay what real SDKs answered to tokens",
		Long: `Check replays verdict files: JSON Lines, each with a token, how it was presented
to an SDK, and what the SDK answered. The scheme that answers as the SDK does
must give the same accept or refuse, the same state and the same reason.

It prints for each system how many of how many lines agree, after the first
lines that do not, whole, so that they can be replayed by themselves.

The exit status is 0 when every line agrees, 1 when one does not, and 2 when a
line cannot be read or names a system that is not known.`,
		Example: `  sealab check mcp-ts.jsonl mcp-py.jsonl
  sealab check --show 1 disagreements.jsonl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			c := checker{out: cmd.OutOrStdout(), shown: shown, tallies: map[string]tally{}}
			for _, file := range files {
				if err := c.file(file); err != nil {
					return err
				}
			}
			return c.report()
		},
	}
	cmd.Flags().IntVar(&shown, "show", 10, "print this many disagreements")
	return cmd
}

// A checker counts which lines agree.
type checker struct {
	out     io.Writer
	shown   int // how many more disagreements are printed
	tallies map[string]tally
}

// A tally is how many of how many lines of a system agree.
type tally struct{ agree, all int }

// file replays a file.
func (c *checker) file(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := verdictfile.Read(f, func(l verdictfile.Line) error { return c.line(name, l) })
	if err != nil {
		return fmt.Errorf("sealab: %s:%w", name, err)
	}
	if n == 0 {
		return fmt.Errorf("sealab: %s: the file is empty, want verdicts, one JSON object a line", name)
	}
	return nil
}

// line replays one line of a file.
func (c *checker) line(file string, l verdictfile.Line) error {
	got, agrees, err := verdictfile.Replay(l, catalog.Find)
	if err != nil {
		return err
	}
	system, err := l.System()
	if err != nil {
		return err
	}
	t := c.tallies[system]
	t.all++
	if agrees {
		t.agree++
	}
	c.tallies[system] = t
	if agrees || c.shown == 0 {
		return nil
	}
	c.shown--
	_, err = fmt.Fprintf(c.out, "%s:%d: %s: %s, where the line says otherwise:\n  %s\n", file, l.Number, l.Note(), got, l.Text)
	return err
}

// report prints the tallies, and fails with cli.ErrRefuted unless all lines agree.
func (c *checker) report() error {
	var total tally
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for _, system := range slices.Sorted(maps.Keys(c.tallies)) {
		t := c.tallies[system]
		total.agree += t.agree
		total.all += t.all
		fmt.Fprintf(w, "%s\t%d/%d\n", system, t.agree, t.all)
	}
	fmt.Fprintf(w, "total\t%d/%d\n", total.agree, total.all)
	if err := w.Flush(); err != nil {
		return err
	}
	if total.agree != total.all {
		return cli.ErrRefuted
	}
	return nil
}
