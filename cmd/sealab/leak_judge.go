package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"sealab/analysis/timing"
	"sealab/internal/cli"
	"sealab/internal/runfile"
	"sealab/internal/table"
)

func newLeakJudgeCommand() *cobra.Command {
	var limit float64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "judge DIR",
		Short: "Judge the samples in a folder",
		Long: fmt.Sprintf(`Judge, for every pair in DIR, if its two classes take the same time. Print a
table and write it as judgement.json into DIR.

A pair is refuted if the difference is significant, larger than --limit and the
same in the second pass. It is not refuted if its interval lies inside the limit
and the minimum detectable effect is below it. Otherwise it is not tested, and
the table shows how many blocks it needs. Sensible limits are %d ns for an
attacker on the same machine, %d ns on the local network and %d ns on the
internet.

The status is 1 if a guarantee of a design is refuted. It is 2 if a control did
not turn out as it must: then the run is void.`, timing.LimitLibrary, timing.LimitLocal, timing.LimitInternet),
		Example: `  sealab leak judge results/timing/run
  sealab leak judge --limit 100 results/timing/run
  sealab leak judge --json results/timing/run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return leakJudge(cmd, args[0], limit, asJSON) },
	}
	cmd.Flags().Float64Var(&limit, "limit", timing.LimitLibrary, "difference in nanoseconds from which on it counts")
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func leakJudge(cmd *cobra.Command, dir string, limit float64, asJSON bool) error {
	if limit <= 0 {
		return fmt.Errorf("--limit %g: want more than 0 ns", limit)
	}
	files, err := runfile.ReadSampleFiles(dir)
	if err != nil {
		return err
	}
	progress := newProgress(cmd.ErrOrStderr())
	j, err := timing.Judge(files, limit, func(done int) {
		progress.show("judging", done, len(files))
	})
	progress.end()
	if err != nil {
		return err
	}
	if err := j.Write(dir); err != nil {
		return err
	}
	if asJSON {
		err = writeJSON(cmd.OutOrStdout(), j.Document(dir))
	} else {
		err = j.WriteTable(cmd.OutOrStdout(), table.Width(cmd.OutOrStdout()))
	}
	if err != nil {
		return err
	}
	switch {
	case j.Controls.Void():
		return fmt.Errorf("the run in %s is void: its controls did not turn out as they must", dir)
	case len(j.Refuted()) > 0:
		return cli.ErrRefuted
	}
	return nil
}
