package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"sealab/analysis/findings"
	"sealab/fuzz/attack"
	"sealab/internal/cli"
)

func newReplayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "replay FILE [FINDING...]",
		Short: "Show findings again from their witnesses",
		Long: `Read findings as "sealab attack" writes them and show each again, or those that
are named: the deciding calls are made once more on the design or worker, or the
attack is run again under its seed. The exit status is 1 when a finding shows
again and 0 when none does, so that it says whether a repair is one.`,
		Example: `  sealab replay findings.json
  sealab replay findings.json F-0123456789`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return replayFindings(cmd.OutOrStdout(), args[0], args[1:])
		},
	}
}

func replayFindings(w io.Writer, file string, ids []string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	all, err := findings.Read(data)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	shown, found := 0, 0
	for _, f := range all {
		if len(ids) > 0 && !slices.Contains(ids, f.ID) {
			continue
		}
		found++
		err := reproduce(f)
		if err == nil {
			shown++
			fmt.Fprintf(w, "%s shows again: %s, %s: %s\n", f.ID, f.Location.Design, f.Category, f.Issue)
			continue
		}
		fmt.Fprintf(w, "%s does not show: %s\n", f.ID, cli.Line(err))
	}
	if found == 0 || found < len(ids) {
		return fmt.Errorf("sealab: %s: %d of the findings %v are there", file, found, ids)
	}
	if shown > 0 {
		return cli.ErrRefuted
	}
	return nil
}

// reproduce opens the finding's subject and shows the finding again.
func reproduce(f findings.Finding) error {
	if f.Witness == nil {
		return fmt.Errorf("sealab: no attack showed it; verify it with: %s", f.Verification)
	}
	if f.Location.Worker == nil {
		d, err := findDesign(f.Location.Design)
		if err != nil {
			return err
		}
		return again(&attack.Subject{Design: d, Options: f.Location.Options}, f)
	}
	s, end, err := dialWorker(f.Location.Worker, io.Discard)
	if err != nil {
		return err
	}
	defer end() //nolint:errcheck // it is over either way
	s.Options = f.Location.Options
	return again(s, f)
}

// again shows a finding again on a subject, whose work is timed as it was.
func again(s *attack.Subject, f findings.Finding) error {
	budget := attack.DefaultBudget()
	budget.Stopwatch = stopwatch(s.Worker != nil, time.Now())
	return attack.Reproduce(s, f.Category, f.Witness, budget)
}
