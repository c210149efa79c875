package measure

import (
	"io"

	"github.com/spf13/cobra"

	"sealab/analysis/site"
	"sealab/analysis/throughput"
	"sealab/internal/cli"
	"sealab/internal/table"
)

// NewReport returns the command "report".
func NewReport() *cobra.Command {
	var brief, asJSON bool
	var file string
	cmd := &cobra.Command{
		Use:   "report [RUN]",
		Short: "Print the tables of a run of the benchmark",
		Long: `Print the tables and the thresholds of a run that "sealab bench" wrote. RUN is
its folder, by default the newest in results/bench. The report follows from the
files alone.

With --html, write one page instead. RUN may then also be a run of attacks, a
review or a fuzz campaign.`,
		Example: `  sealab report
  sealab report --brief results/bench/20261126T034703Z-6f19ff373d
  sealab report results/review/20261123T182819Z-409aa35d56 --html review.html`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				runs, err := newestRuns(1)
				if err != nil {
					return err
				}
				args = runs
			}
			if file != "" {
				return site.WriteRun(args[0], file)
			}
			run, err := throughput.Load(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return writeReportJSON(cmd.OutOrStdout(), run)
			}
			write := run.Report
			if brief {
				write = run.Summary
			}
			return write(cmd.OutOrStdout(), table.Width(cmd.OutOrStdout()))
		},
	}
	cmd.Flags().BoolVar(&brief, "brief", false, "print one screen: the designs at one size, and the thresholds missed")
	cmd.Flags().StringVar(&file, "html", "", "write one page to this `file` instead")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write every measurement as JSON")
	cmd.MarkFlagsMutuallyExclusive("brief", "html", "json")
	return cmd
}

// writeReportJSON writes the measurements and thresholds of a run as JSON.
func writeReportJSON(out io.Writer, run *throughput.Run) error {
	document, err := run.Document()
	if err != nil {
		return err
	}
	return cli.WriteJSON(out, document)
}
