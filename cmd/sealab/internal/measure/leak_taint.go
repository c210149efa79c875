package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	analysis "sealab/analysis/taint"
	"sealab/bench/taint"
	"sealab/internal/cli"
	"sealab/internal/command"
	"sealab/internal/runfile"
	"sealab/internal/table"
)

func newLeakTaint() *cobra.Command {
	var flags leakTaintFlags
	cmd := &cobra.Command{
		Use:   "taint DIR",
		Short: "Name each line whose branches or addresses depend on a secret",
		Long: `Run every design under valgrind with its keys, and then its payload, declared
undefined, and name each line of code whose branches or addresses depend on
them, and each division that was executed. The logs and the judgement are
written to DIR.

Values that every token shows, and the verdict itself, are declassified by a
table with a reason for each; both are printed. A line in the refusal of a token
refutes steady-timing, and the exit status is 1. Other lines are observations.
The exit status is 2 if a control has the wrong outcome, which voids the run, if
a design could not be run, or if valgrind is not installed.

It needs valgrind and the source of this module: run it inside the module.`,
		Example: `  sealab leak taint results/taint/run
  sealab leak taint --subject aes-256-gcm results/taint/gcm
  sealab leak taint --judge-only results/taint/run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd, args[0]) },
	}
	cmd.Flags().StringSliceVar(&flags.subjects, "subject", nil, "designs to run beside the controls, by name (default all)")
	cmd.Flags().BoolVar(&flags.judgeOnly, "judge-only", false, "judge the existing logs in DIR")
	cmd.Flags().IntVar(&flags.lines, "lines", 3, "lines to print for each subject; all are in "+analysis.JudgementFile)
	cmd.Flags().StringVar(&flags.host, "host", "", "name of this machine in the results (default a digest of its name)")
	cli.AddJSONFlag(cmd, &flags.json)
	return cmd
}

// leakTaintFlags are the flags of the taint command.
type leakTaintFlags struct {
	subjects  []string
	judgeOnly bool
	lines     int
	json      bool
	host      string
}

func (f *leakTaintFlags) run(cmd *cobra.Command, dir string) error {
	if !f.judgeOnly {
		ctx, stop := cli.Interruptible(cmd)
		defer stop()
		err := f.log(ctx, dir, cli.NewProgress(cmd.ErrOrStderr()))
		if errors.Is(err, taint.ErrMissing) {
			return fmt.Errorf("not tested: %w", err)
		}
		if err != nil && ctx.Err() == nil {
			return cmp.Or(command.CheckGo(ctx, ""), err) // nothing builds outside the module
		}
		if err != nil {
			return err
		}
	}
	logs, err := runfile.ReadTaintLogs(dir)
	if err != nil {
		return err
	}
	j := analysis.Judge(logs)
	if err := j.Write(dir); err != nil {
		return err
	}
	err = cli.WriteAs(cmd.OutOrStdout(), f.json, TaintDocument{TaintFormat, dir, j}, func(w io.Writer) error { return j.WriteTable(w, f.lines, table.Width(w)) })
	if err != nil {
		return err
	}
	switch {
	case len(j.Faults) > 0:
		return fmt.Errorf("the run in %s is void: its controls did not turn out as they must", dir)
	case j.Refuted():
		return cli.ErrRefuted
	case j.NotTested() > 0:
		return fmt.Errorf("%d designs in %s were not tested", j.NotTested(), dir)
	}
	return nil
}

// log runs the subjects under valgrind.
func (f *leakTaintFlags) log(ctx context.Context, dir string, progress *cli.Progress) error {
	stamp, err := runfile.NewStamp(time.Now(), f.host)
	if err != nil {
		return err
	}
	defer progress.End()
	return taint.Run(ctx, dir, f.subjects, map[string]string{"commit": stamp.Commit, "host": stamp.Host}, func(done, of int) {
		progress.Show("tainting", done, of)
	})
}

// TaintFormat is the name of the format of a TaintDocument.
const TaintFormat = "sealab-leak-taint/1"

// A TaintDocument is the JSON output of "leak taint".
type TaintDocument struct {
	Format string `json:"format"`
	Run    string `json:"run"` // its folder
	*analysis.Judgement
}
