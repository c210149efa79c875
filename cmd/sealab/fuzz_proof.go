package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"sealab/codecs/catalog"
	"sealab/fuzz/gofuzz/preserve"
	"sealab/fuzz/proof"
	"sealab/internal/atomicfile"
)

func newFuzzProofCommand() *cobra.Command {
	var flags fuzzProofFlags
	cmd := &cobra.Command{
		Use:   "proof [BUG...]",
		Short: "Measure how soon fuzzing finds planted bugs",
		Long: `Plant one bug at a time (build tag planted), all by default, and hunt it with
three engines: a campaign of this command, plain go test -fuzz, and go-fuzz. Each
gets the same code, the fuzz target that is made to see the bug, and the same
seeds.

The table of medians goes to standard output and, with every trial, to a new
folder below results. Exit status 1 says that the first engine missed a bug in a
trial. Run it in the root of the repository, on a machine that does nothing
else; the first run builds for go-fuzz, which takes minutes.`,
		Example: `  sealab fuzz proof
  sealab fuzz proof --seeds 1 --limit 30s short-tag claims-escape
  sealab fuzz proof --engines campaign`,
		RunE: flags.run,
	}
	flags.add(cmd)
	return cmd
}

// fuzzProofFlags are the flags of the fuzz proof command.
type fuzzProofFlags struct {
	seeds, workers int
	limit          time.Duration
	engines        []string
	results        string
}

// proofDir is where the proof builds, and where its trials run: inside the
// module, whose vectors are the seeds, and ignored by git.
const proofDir = "bin/fuzz-proof"

func (f *fuzzProofFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&f.seeds, "seeds", 5, "trials of each bug with each engine")
	flags.DurationVar(&f.limit, "limit", 10*time.Minute, "of one trial")
	flags.IntVar(&f.workers, "workers", runtime.NumCPU(), "processes that run inputs at one time")
	flags.StringSliceVar(&f.engines, "engines", []string{"campaign", "go-test", "go-fuzz"}, "engines, separated by commas")
	flags.StringVar(&f.results, "results", "results", "folder for the results")
}

func (f *fuzzProofFlags) run(cmd *cobra.Command, names []string) error {
	if f.seeds <= 0 || f.limit <= 0 || f.workers <= 0 {
		return fmt.Errorf("sealab: --seeds %d, --limit %v, --workers %d: want positive values", f.seeds, f.limit, f.workers)
	}
	bugs, err := plantedBugs(names)
	if err != nil {
		return err
	}
	engines, err := f.chosen()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	p := proof.Proof{
		Bugs: bugs, Engines: engines, Seeds: f.seeds, Limit: f.limit, Folder: trialFolder, Now: time.Now,
		Log: func(t proof.Trial) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s, %s, seed %d: found %v, %d executions, %.1f s\n", t.Bug, t.Engine, t.Seed, t.Found, t.Executions, t.Seconds)
		},
	}
	trials, err := p.Run(ctx)
	if err != nil {
		return err
	}
	return f.report(cmd, bugs, engines, trials)
}

// trialFolder makes a folder for one trial.
func trialFolder() (dir string, remove func(), err error) {
	if err := os.MkdirAll(proofDir, 0o755); err != nil {
		return "", nil, fmt.Errorf("sealab: %w", err)
	}
	root, err := filepath.Abs(proofDir)
	if err != nil {
		return "", nil, fmt.Errorf("sealab: %w", err)
	}
	if dir, err = os.MkdirTemp(root, "trial-"); err != nil {
		return "", nil, fmt.Errorf("sealab: %w", err)
	}
	return dir, func() { os.RemoveAll(dir) }, nil
}

// plantedBugs returns the bugs called names, all where there are none.
func plantedBugs(names []string) ([]proof.Bug, error) {
	var all, known []string
	var bugs []proof.Bug
	for _, b := range catalog.Planted() {
		known = append(known, b.Name)
		if len(names) == 0 || slices.Contains(names, b.Name) {
			all, bugs = append(all, b.Name), append(bugs, proof.Bug{Name: b.Name, Target: b.Target})
		}
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("sealab: no planted bug %q; there are %v", name, known)
		}
	}
	return bugs, nil
}

// chosen returns the engines that the flags name.
func (f *fuzzProofFlags) chosen() ([]proof.Engine, error) {
	dir, err := filepath.Abs(proofDir)
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	known := map[string]proof.Engine{
		"campaign": proof.Supervised{Package: fuzzPackage, Replay: fuzzReplay, Workers: f.workers, Now: time.Now},
		"go-test":  proof.Native{Package: fuzzPackage, Dir: dir, Workers: f.workers},
		"go-fuzz":  proof.GoFuzz{Package: "sealab/fuzz/gofuzz", Dir: dir, Preserve: preserve.Packages, Workers: f.workers},
	}
	var engines []proof.Engine
	for _, name := range f.engines {
		e, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("sealab: no fuzz engine %q; there are campaign, go-test and go-fuzz", name)
		}
		engines = append(engines, e)
	}
	return engines, nil
}

// report writes the results, and returns errRefuted where the first engine
// missed a bug.
func (f *fuzzProofFlags) report(cmd *cobra.Command, bugs []proof.Bug, engines []proof.Engine, trials []proof.Trial) error {
	var names []string
	for _, e := range engines {
		names = append(names, e.Name())
	}
	var table, lines bytes.Buffer
	fmt.Fprintf(&table, "sealab %s%s, %s, %d cores, %d workers, %d trials of at most %v\n\n",
		moduleVersion(), commit(), runtime.Version(), runtime.NumCPU(), f.workers, f.seeds, f.limit)
	if err := proof.WriteTable(&table, bugs, names, trials); err != nil {
		return err
	}
	for _, t := range trials {
		line, err := json.Marshal(t)
		if err != nil {
			return fmt.Errorf("sealab: %w", err)
		}
		lines.Write(append(line, '\n'))
	}
	dir := filepath.Join(f.results, time.Now().UTC().Format("20060102T150405Z")+"-fuzz-proof")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	for name, data := range map[string][]byte{"table.txt": table.Bytes(), "trials.jsonl": lines.Bytes()} {
		if err := atomicfile.Write(filepath.Join(dir, name), data); err != nil {
			return err
		}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", table.Bytes(), dir)
	for _, t := range trials {
		if t.Engine == names[0] && !t.Found {
			return errRefuted
		}
	}
	return nil
}
