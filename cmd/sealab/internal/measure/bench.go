// Package measure holds the commands that measure designs and report on runs: bench, report, compare,
// compare-formats and leak.
package measure

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"sealab/analysis/throughput"
	"sealab/bench"
	"sealab/cmd/sealab/internal/subject"
	"sealab/codecs/sdk"
	"sealab/codecs/worker"
	"sealab/internal/atomicfile"
	"sealab/internal/cli"
	"sealab/internal/runfile"
	"sealab/internal/table"
)

// quickConfig is a short run that checks that everything works. Its figures are
// rough.
var quickConfig = bench.Config{Rounds: 6, Cell: 2 * time.Millisecond}

// NewBench returns the command "bench".
func NewBench() *cobra.Command {
	var flags benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure designs beside their baselines and other libraries",
		Long: `Measure every design of the catalog, the bare primitives that are their
baselines, Go libraries for the same purpose, and the installed SDKs in other
languages, which time themselves. Every cell (subject, operation,
payload size) runs once in each round. Cells that are compared take turns in
short parts.

The measurements are written in the Go benchmark format to a new folder,
<out>/bench/<date>-<commit>, with their report; a run that is stopped leaves
nothing behind. A summary is printed; "sealab report" prints everything.`,
		Example: `  sealab bench
  sealab bench --quick
  sealab bench --subject aes-256-gcm,baseline-aes-256-gcm --op seal,unseal --size 1024 --rounds 30`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd) },
	}
	flags.add(cmd)
	return cmd
}

// benchFlags are the flags of the bench command.
type benchFlags struct {
	config    bench.Config
	ops       []string
	quick     bool
	out, host string
	json      bool
}

func (f *benchFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.config.Subjects, "subject", nil, "designs, baselines and libraries to measure, by name (default all)")
	flags.StringSliceVar(&f.ops, "op", nil, fmt.Sprintf("operations (default %v)", runfile.Ops()))
	flags.IntSliceVar(&f.config.Sizes, "size", bench.Sizes(), "payload sizes in bytes")
	flags.IntVar(&f.config.Rounds, "rounds", bench.Rounds, "number of times that every cell runs")
	flags.DurationVar(&f.config.Cell, "cell", bench.CellTime, "time that a cell runs in a round")
	flags.Uint64Var(&f.config.Seed, "seed", 0, "seed of the order inside the rounds (default: a new one for each run)")
	flags.BoolVar(&f.quick, "quick", false, fmt.Sprintf("the same as --rounds %d --cell %v", quickConfig.Rounds, quickConfig.Cell))
	flags.StringVar(&f.out, "out", runfile.Results, "folder of all results")
	flags.StringVar(&f.host, "host", "", "name of this machine in the results (default a digest of its name)")
	cmd.Flags().BoolVar(&f.json, "json", false, "write every measurement as JSON, as \"sealab report --json\" does")
	cmd.MarkFlagsMutuallyExclusive("quick", "rounds")
	cmd.MarkFlagsMutuallyExclusive("quick", "cell")
}

func (f *benchFlags) run(cmd *cobra.Command) error {
	started := time.Now()
	c, err := f.complete(started)
	if err != nil {
		return err
	}
	stamp, err := runfile.NewStamp(started, f.host)
	if err != nil {
		return err
	}
	if err := atomicfile.RequireWritable(f.out); err != nil {
		return err
	}
	subjects, stopSDKs, err := withSDKs(cmd.ErrOrStderr(), bench.Subjects(), c.Subjects)
	if err != nil {
		return err
	}
	defer stopSDKs()
	progress := cli.NewProgress(cmd.ErrOrStderr())
	c.Progress = progress.Show

	ctx, stop := cli.Interruptible(cmd)
	defer stop()
	result, err := bench.Run(ctx, subjects, c)
	progress.End()
	if err != nil {
		return err
	}
	text, err := result.Format(stamp)
	if err != nil {
		return err
	}
	run, err := throughput.Write(stamp.Dir(f.out, runfile.Bench), text, result.Subjects)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if f.json {
		return writeReportJSON(out, run)
	}
	if err := run.Summary(out, table.Width(out)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\nall tables: %s\nas a page: sealab report %s --html bench.html\nto compare it with another run: sealab compare OLD %[2]s\n", filepath.Join(run.Path, runfile.ReportFile), run.Path)
	return err
}

// complete returns the configuration for the flags. Without a seed it uses the
// clock.
func (f *benchFlags) complete(started time.Time) (bench.Config, error) {
	c := f.config
	if f.quick {
		c.Rounds, c.Cell = quickConfig.Rounds, quickConfig.Cell
	}
	if c.Rounds < 1 || c.Cell <= 0 {
		return c, fmt.Errorf("--rounds %d and --cell %v: want positive values", c.Rounds, c.Cell)
	}
	if c.Seed == 0 {
		c.Seed = uint64(started.UnixNano())
	}
	for _, name := range f.ops {
		op, err := runfile.ParseOp(name)
		if err != nil {
			return c, err
		}
		c.Ops = append(c.Ops, op)
	}
	return c, nil
}

// withSDKs starts the named SDKs, or all installed SDKs if there are no names.
// It appends each, with the design that it mirrors, to the subjects. It prints
// the SDKs that are not installed as skipped.
func withSDKs(out io.Writer, subjects []bench.Subject, names []string) (all []bench.Subject, stop func(), err error) {
	var clients []*worker.Client
	stop = func() {
		for _, c := range clients {
			c.Close() //nolint:errcheck // the measurements are complete
		}
	}
	sdks, err := sdk.Mirrors(".")
	if err != nil {
		fmt.Fprintln(out, "skipped: SDKs in other languages:", cli.Line(err))
		return subjects, stop, nil
	}
	if len(names) > 0 {
		sdks = slices.DeleteFunc(sdks, func(s sdk.SDK) bool { return !slices.Contains(names, s.Name) })
	}
	for _, s := range subject.Installed(sdks, out) {
		c, err := s.Dial(worker.Limits{})
		if err != nil {
			stop()
			return nil, stop, err
		}
		clients = append(clients, c)
		if subjects, err = bench.WithDesign(subjects, s.Mirrors); err != nil {
			stop()
			return nil, stop, err
		}
		subjects = append(subjects, bench.FromWorker(c, s.Mirrors, s.Slower))
	}
	return subjects, stop, nil
}
