package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"sealab/analysis/site"
	"sealab/analysis/throughput"
	"sealab/internal/cli"
	"sealab/internal/table"
)

func newReportCommand() *cobra.Command {
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
			run, err := loadRun(args[0])
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

// loadRun loads a benchmark run.
func loadRun(dir string) (*throughput.Run, error) {
	run, err := throughput.Load(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; want the folder of a run of sealab bench", err)
	}
	return run, err
}

// writeReportJSON writes the measurements and thresholds of a run as JSON.
func writeReportJSON(out io.Writer, run *throughput.Run) error {
	document, err := run.Document()
	if err != nil {
		return err
	}
	return cli.WriteJSON(out, document)
}

func newSiteCommand() *cobra.Command {
	var from site.Source
	var out string
	cmd := &cobra.Command{
		Use:   "site",
		Short: "Write pages of committed results",
		Long: `Write static pages of the newest run of each kind below --results: the designs
with their guarantees, the outcomes of attacks and a plot of time against size;
a page for each design; the benchmark with a comparison and a history; attacks,
a review and a fuzz campaign with their findings; the vectors; guides; and the
help of all commands. Each page is one file that loads nothing else.`,
		Example: `  sealab site
  sealab site --vectors vectors/files --out pages`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			commands, err := sitePages(cmd.Root())
			if err != nil {
				return err
			}
			from.Commands = commands
			if err := site.Write(from, out); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "open %s\n", filepath.Join(out, "index.html"))
			return err
		},
	}
	cmd.Flags().StringVar(&from.Results, "results", resultsDir, "folder of all results")
	cmd.Flags().StringVar(&from.Vectors, "vectors", "", "folder of the files of vectors to publish (default none)")
	cmd.Flags().StringVar(&out, "out", "site", "new folder of the pages")
	return cmd
}
