package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sealab/codecs/catalog"
	"sealab/fuzz/gofuzz/preserve"
	"sealab/fuzz/proof"
	"sealab/internal/cli"
)

func newFuzzProofCommand() *cobra.Command {
	var flags fuzzProofFlags
	cmd := &cobra.Command{
		Use:   "proof [BUG...]",
		Short: "Measure how soon fuzzing finds planted bugs",
		Long: `Plant one bug at a time (build tag planted), all by default, and hunt it with
three engines: a campaign of this command, plain go test -fuzz, and go-fuzz.
Each gets the same code, the fuzz target that is made to see the bug, and the
same seeds.

The table of medians goes to standard output and, with every trial, to a new
folder below results. It is written after each trial, and all bugs are hunted
from one seed before the next: what was interrupted has a table, and goes on
with --dir. Exit status 1 says that the first engine missed a bug in a trial.
Run it in the root of the repository, on a machine that does nothing else; the
first run builds for go-fuzz, which takes minutes.`,
		Example: `  sealab fuzz proof
  sealab fuzz proof --seeds 1 --limit 30s short-tag claims-escape
  sealab fuzz proof --engines campaign=10m,go-test=1m,go-fuzz=1m --at-once 2 --workers 1
  sealab fuzz proof --dir results/20261120T135500Z-fuzz-proof`,
		RunE: flags.run,
	}
	flags.add(cmd)
	return cmd
}

// fuzzProofFlags are the flags of the fuzz proof command.
type fuzzProofFlags struct {
	seeds, workers, atOnce int
	limit                  time.Duration
	engines                []string
	results, dir           string
}

// proofDir is where the proof builds, and where its trials run: inside the
// module, whose vectors are the seeds, and ignored by git.
const proofDir = "bin/fuzz-proof"

func (f *fuzzProofFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&f.seeds, "seeds", 5, "trials of each bug with each engine")
	flags.DurationVar(&f.limit, "limit", 10*time.Minute, "of one trial")
	flags.IntVar(&f.atOnce, "at-once", 1, "trials that run at one time")
	flags.IntVar(&f.workers, "workers", runtime.NumCPU(), "processes of one trial that run inputs at one time")
	flags.StringSliceVar(&f.engines, "engines", []string{"campaign", "go-test", "go-fuzz"}, "engines, separated by commas; campaign=10m gives one a limit of its own")
	flags.StringVar(&f.results, "results", "results", "folder in which the results get a folder")
	flags.StringVar(&f.dir, "dir", "", "folder of the results itself; where it has trials they are not done again")
}

func (f *fuzzProofFlags) run(cmd *cobra.Command, names []string) error {
	if f.seeds <= 0 || f.limit <= 0 || f.workers <= 0 || f.atOnce <= 0 {
		return fmt.Errorf("sealab: --seeds %d, --limit %v, --workers %d, --at-once %d: want positive values", f.seeds, f.limit, f.workers, f.atOnce)
	}
	bugs, err := plantedBugs(names)
	if err != nil {
		return err
	}
	entrants, err := f.chosen()
	if err != nil {
		return err
	}
	results := proof.Results{Dir: f.dir, Bugs: bugs}
	if results.Dir == "" {
		results.Dir = filepath.Join(f.results, time.Now().UTC().Format("20060102T150405Z")+"-fuzz-proof")
	}
	for _, e := range entrants {
		results.Engines = append(results.Engines, e.Name())
	}
	if err := results.Resume(); err != nil {
		return err
	}
	p := proof.Proof{Bugs: bugs, Entrants: entrants, Seeds: f.seeds, AtOnce: f.atOnce, Workers: f.workers, Done: results.Trials, Folder: trialFolder, Now: time.Now,
		Record: func(t proof.Trial) error {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s, %s, seed %d: found %v, %d executions, %.1f s\n", t.Bug, t.Engine, t.Seed, t.Found, t.Executions, t.Seconds)
			return results.Add(t)
		},
	}
	if err := results.RequireAlike(p); err != nil {
		return err
	}
	results.Heading = f.heading(p)
	if err := os.MkdirAll(proofDir, 0o755); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	if err := p.Run(ctx); err != nil {
		return err
	}
	return reportProof(cmd, results)
}

// trialFolder makes a folder for one trial.
func trialFolder() (dir string, remove func(), err error) {
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

// chosen returns the engines that the flags name, with their limits.
func (f *fuzzProofFlags) chosen() ([]proof.Entrant, error) {
	dir, err := filepath.Abs(proofDir)
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	known := map[string]proof.Engine{
		"campaign": proof.Supervised{Package: fuzzPackage, Replay: fuzzReplay, Dir: dir, Now: time.Now},
		"go-test":  proof.Native{Package: fuzzPackage, Dir: dir},
		"go-fuzz":  proof.GoFuzz{Package: "sealab/fuzz/gofuzz", Dir: dir, Preserve: preserve.Packages},
	}
	var entrants []proof.Entrant
	for _, text := range f.engines {
		name, own, limited := strings.Cut(text, "=")
		e, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("sealab: no fuzz engine %q; there are campaign, go-test and go-fuzz", name)
		}
		limit := f.limit
		if limited {
			if limit, err = time.ParseDuration(own); err != nil || limit <= 0 {
				return nil, fmt.Errorf("sealab: --engines %s: want a positive duration behind =", text)
			}
		}
		entrants = append(entrants, proof.Entrant{Engine: e, Limit: limit})
	}
	return entrants, nil
}

// heading says under which conditions the trials of p run.
func (f *fuzzProofFlags) heading(p proof.Proof) string {
	text := fmt.Sprintf("sealab %s%s, %s, %d cores, %d trials at once with %d workers each, %d trials of each bug",
		moduleVersion(), commit(), runtime.Version(), runtime.NumCPU(), p.AtOnce, p.Workers, p.Seeds)
	for _, e := range p.Entrants {
		text += fmt.Sprintf(", %s at most %v", e.Name(), e.Limit)
	}
	return text
}

// reportProof prints the table, and returns cli.ErrRefuted where the first engine
// missed a bug.
func reportProof(cmd *cobra.Command, r proof.Results) error {
	table, err := r.Table()
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", table, r.Dir)
	for _, t := range r.Trials {
		if t.Engine == r.Engines[0] && !t.Found {
			return cli.ErrRefuted
		}
	}
	return nil
}
