package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"sealab/fuzz/campaign/report"
	"sealab/internal/runfile"
)

func newFuzzReportCommand() *cobra.Command {
	var folder campaignFolder
	var out string
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Write the results of a campaign, to keep with the code",
		Long: `Write a new folder with the results of a campaign, small enough to commit:

  report.md    for each target executions, executions a second, coverage, new
               inputs and crashers; the statements covered where "sealab fuzz
               cover" ran
  report.json  the same, with the curves as numbers
  pictures/    the curves

The stamp has the commit of this command, which is that of the code under test
if both come from one tree, as with make fuzz.`,
		Example: `  sealab fuzz report --dir fuzz-campaign --out results`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			stamp, err := runfile.NewStamp(time.Now(), "")
			if err != nil {
				return err
			}
			r, err := report.Read(folder.dir, report.Stamp{
				Commit: stamp.Commit, Dirty: stamp.Dirty, Host: stamp.Host, Toolchain: runtime.Version(),
				Processor: runfile.CPUName(), Cores: runtime.NumCPU(), Modules: stamp.Modules,
			})
			if err != nil {
				return err
			}
			dir := stamp.Dir(out, runfile.Fuzz)
			if err := r.Write(dir); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", dir)
			return err
		},
	}
	folder.add(cmd)
	cmd.Flags().StringVar(&out, "out", "results", "folder to make the report's folder in")
	return cmd
}
