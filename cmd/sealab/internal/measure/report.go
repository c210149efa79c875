package measure

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"sealab/analysis/site"
	"sealab/analysis/throughput"
	"sealab/internal/cli"
	"sealab/internal/runfile"
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
  sealab report --brief results/bench/20261129T002455Z-0f40c1ec8e
  sealab report results/review/20261128T014524Z-d4327b0965 --html review.html`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				runs, err := runfile.Newest(runfile.Results, runfile.Bench, 1)
				if err != nil {
					return fmt.Errorf("%w: sealab bench makes one", err)
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

// newestPair returns the runs that compare takes by default, the older first, and a note if they are of
// different machines.
func newestPair() (runs []string, note string, err error) {
	whole, err := throughput.Whole(runfile.Results)
	if err != nil {
		return nil, "", err
	}
	if len(whole) < 2 {
		return nil, "", fmt.Errorf("want 2 runs of every design in %s, found %d: sealab bench makes one", filepath.Join(runfile.Results, runfile.Bench), len(whole))
	}
	newest := whole[len(whole)-1]
	earlier, same := throughput.Earlier(whole)
	if !same {
		note = "They are the two newest runs: there is no older run of the newer one's machine, and times compare only on one machine.\n"
	}
	return []string{earlier.Path, newest.Path}, note, nil
}

// maxChanges is the default number of changes that compare lists.
const maxChanges = 30

// NewCompare returns the command "compare".
func NewCompare() *cobra.Command {
	var filter string
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "compare [OLD NEW]",
		Short: "Compare two runs of the benchmark",
		Long: `Compare two runs of the benchmark: the geometric mean of the changes of each
operation, and then the changes, regressions first and then by size. OLD and NEW
are folders that "sealab bench" wrote, or files in the Go benchmark format. The
default is the newest run in results/bench that measured every design, and the
newest such run before it, if possible of the same machine.

--filter selects measurements in the syntax of golang.org/x/perf/benchproc. The
keys are /design, /op, /size and .unit.

The exit status is 1 if a design takes longer by more than the noise floor,
allocates more, or has longer tokens. The noise floor is the larger of two
shares: the largest difference between a subject and itself in the older run,
and the largest change of a bare primitive between the runs. If the bare
primitives changed by more than 50 % in the mean, the runs are of different
machines: times are not tested, and without another regression the exit status
is 2.`,
		Example: `  sealab compare
  sealab compare old.txt new.txt
  sealab compare --filter "/op:(seal OR unseal) /size:1024 .unit:sec/op" old new`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return cobra.ExactArgs(2)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				runs, note, err := newestPair()
				if err != nil {
					return err
				}
				args = runs
				if !asJSON {
					fmt.Fprintf(cmd.OutOrStdout(), "%s to %s\n%s\n", args[0], args[1], note)
				}
			}
			c, err := throughput.Compare(args[0], args[1], filter)
			if err != nil {
				return err
			}
			rows := maxChanges
			if all {
				rows = 0
			}
			err = cli.WriteAs(cmd.OutOrStdout(), asJSON, c.Document(args[0], args[1]), func(w io.Writer) error { return c.Report(w, rows, table.Width(w)) })
			if err != nil {
				return err
			}
			switch {
			case len(c.Regressed()) > 0:
				return cli.ErrRefuted
			case !c.Timed():
				return errors.New("the times are not tested: the runs are of different machines")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&filter, "filter", "*", "measurements to compare, in benchproc syntax")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write every change as JSON")
	cmd.Flags().BoolVar(&all, "all", false, fmt.Sprintf("list every change (default the first %d)", maxChanges))
	return cmd
}
