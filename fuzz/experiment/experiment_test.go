// Package experiment measures how quickly fuzzers find injected bugs. In the terms of
// FuzzBench, an experiment runs trials of every fuzzer on every bug.
//
//	go test -timeout 0 -run TestExperiment ./fuzz/experiment -args -experiment -out results/DIR
//
// All fuzzers run the target that must find the bug, from the same seeds, with the same number
// of workers. The number of a trial is the seed of go test -fuzz (GODEBUG=fuzzseed); the other
// fuzzers take no seed. Times include the start of the fuzzer but not the build. Executions are
// those that the fuzzer reported last; go-fuzz reports every three seconds.
package experiment

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/targets"
	"sealab/internal/atomicfile"
	"sealab/internal/broken/injected"
	"sealab/internal/testenv"
)

var (
	runExperiment = flag.Bool("experiment", false, "run the experiment, which takes hours")
	flagTrials    = flag.Int("trials", 5, "trials of each bug with each fuzzer")
	flagLimit     = flag.Duration("limit", 10*time.Minute, "time limit of one trial")
	flagParallel  = flag.Int("at-once", 1, "trials that run at one time")
	flagWorkers   = flag.Int("workers", runtime.NumCPU(), "processes of one trial that run inputs")
	flagFuzzers   = flag.String("fuzzers", "campaign,go-test,go-fuzz", "fuzzers, separated by commas")
	flagBugs      = flag.String("bugs", injected.All, "injected bugs, separated by commas")
	flagOut       = flag.String("out", "", "folder of the results; trials in it are not repeated")
)

// A bug is an injected bug and the target that must find it.
type bug struct{ Name, Target string }

// A trial is one run of a fuzzer on a bug, and its conditions.
type trial struct {
	Bug        string  `json:"bug"`
	Target     string  `json:"target"`
	Fuzzer     string  `json:"fuzzer"`
	Number     int     `json:"trial"`
	Found      bool    `json:"found"`
	Executions int64   `json:"executions"` // until found, or until the limit
	Seconds    float64 `json:"seconds"`
	Limit      float64 `json:"limit_seconds"`
	AtOnce     int     `json:"at_once"`
	Workers    int     `json:"workers"`
}

// An experiment holds its plan and its results. Its folder contains trials.jsonl and table.txt,
// which are written after each trial.
type experiment struct {
	bugs    []bug
	fuzzers []fuzzer
	trials  int
	limit   time.Duration
	atOnce  int
	workers int
	dir     string
	scratch string // parent of the folders of trials
	source  string // the folder of the targets
	now     func() time.Time
	log     func(trial)

	mu   sync.Mutex
	done []trial
}

// TestExperiment fails if the first fuzzer misses a bug in some trial.
func TestExperiment(t *testing.T) {
	if !*runExperiment {
		testenv.Skip(t, "the experiment takes hours: make fuzz-experiment")
	}
	require.NotEmpty(t, *flagOut, "-out: want a folder")
	programs := t.TempDir()
	source, err := filepath.Abs(filepath.Join("..", "targets"))
	require.NoError(t, err)
	known := map[string]fuzzer{"campaign": supervised{programs}, "go-test": native{programs}, "go-fuzz": goFuzz{programs}}
	e := &experiment{trials: *flagTrials, limit: *flagLimit, atOnce: *flagParallel, workers: *flagWorkers, dir: *flagOut, scratch: t.TempDir(), source: source, now: time.Now,
		log: func(r trial) {
			t.Logf("%s, %s, trial %d: found %v, %d executions, %.1f s", r.Bug, r.Fuzzer, r.Number, r.Found, r.Executions, r.Seconds)
		}}
	for name := range strings.SplitSeq(*flagFuzzers, ",") {
		require.Contains(t, known, name)
		e.fuzzers = append(e.fuzzers, known[name])
	}
	for _, b := range injected.Bugs() {
		if *flagBugs == injected.All || slices.Contains(strings.Split(*flagBugs, ","), b.Name) {
			e.bugs = append(e.bugs, bug{b.Name, b.Target})
		}
	}
	require.NotEmpty(t, e.bugs, "-bugs %s", *flagBugs)
	require.NoError(t, e.run(t.Context()))
	table, err := e.table()
	require.NoError(t, err)
	t.Logf("%s", table)
	for _, r := range e.done {
		require.True(t, r.Found || r.Fuzzer != e.fuzzers[0].name(), "%+v", r)
	}
}

// run runs the trials that the folder lacks. All bugs run with all fuzzers for the first trial
// before any runs for the second. The end of ctx is not an error.
func (e *experiment) run(ctx context.Context) error {
	if err := e.resume(); err != nil {
		return err
	}
	for _, f := range e.fuzzers {
		if err := f.prepare(ctx); err != nil {
			return fmt.Errorf("%s: %w", f.name(), err)
		}
	}
	running, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	next := make(chan func() error)
	var wait sync.WaitGroup
	for range e.atOnce {
		wait.Go(func() {
			for try := range next {
				if err := try(); err != nil {
					fail(err)
				}
			}
		})
	}
	e.offer(running, next)
	wait.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(running)
}

// offer sends the missing trials until ctx ends.
func (e *experiment) offer(ctx context.Context, next chan<- func() error) {
	defer close(next)
	done := slices.Clone(e.done)
	for number := 1; number <= e.trials; number++ {
		for _, b := range e.bugs {
			for _, f := range e.fuzzers {
				if slices.ContainsFunc(done, func(r trial) bool { return r.Bug == b.Name && r.Fuzzer == f.name() && r.Number == number }) {
					continue
				}
				select {
				case next <- func() error { return e.try(ctx, f, b, number) }:
				case <-ctx.Done():
					return
				}
			}
		}
	}
}

// try runs one trial and records it, unless ctx ends.
func (e *experiment) try(ctx context.Context, f fuzzer, b bug, number int) error {
	r := trial{Bug: b.Name, Target: b.Target, Fuzzer: f.name(), Number: number, Limit: e.limit.Seconds(), AtOnce: e.atOnce, Workers: e.workers}
	target, err := targets.Find(b.Target)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(e.scratch, "trial-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	limited, stop := context.WithTimeout(ctx, e.limit)
	defer stop()
	begun := e.now()
	seconds := func() float64 { return e.now().Sub(begun).Seconds() }
	r.Executions, err = f.run(limited, setup{b.Name, target, number, dir, e.source, e.workers}, func() { r.Found, r.Seconds = true, seconds() })
	if !r.Found {
		r.Seconds = seconds()
	}
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s on %s: %w", r.Fuzzer, r.Bug, err)
	}
	return e.add(r)
}

const trialsFile = "trials.jsonl"

// resume reads the trials in the folder. Trials under other conditions are an error.
func (e *experiment) resume() error {
	path := filepath.Join(e.dir, trialsFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for number := 1; lines.Scan(); number++ {
		var r trial
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil || r.Bug == "" || r.Fuzzer == "" {
			return fmt.Errorf("%s:%d: want a trial with a bug and a fuzzer: %q", path, number, lines.Bytes())
		}
		if r.Limit != e.limit.Seconds() || r.AtOnce != e.atOnce || r.Workers != e.workers {
			return fmt.Errorf("%s:%d: a trial of %v s, %d at once with %d workers: want the same conditions for all", path, number, r.Limit, r.AtOnce, r.Workers)
		}
		e.done = append(e.done, r)
	}
	return nil
}

// add records a trial and writes the folder.
func (e *experiment) add(r trial) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.done = append(e.done, r)
	e.log(r)
	if err := os.MkdirAll(e.dir, 0o755); err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, r := range e.done {
		if err := json.NewEncoder(&lines).Encode(r); err != nil {
			return err
		}
	}
	table, err := e.table()
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.Write(filepath.Join(e.dir, trialsFile), lines.Bytes()), atomicfile.Write(filepath.Join(e.dir, "table.txt"), table))
}

// table returns, for each bug and fuzzer, the number of trials that found the bug, and the
// median executions and seconds. A trial that did not find it counts as longer than any other.
func (e *experiment) table() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, %d cores, %d trials at once with %d workers each, at most %v\n\n", runtime.Version(), runtime.NumCPU(), e.atOnce, e.workers, e.limit)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "bug\ttarget")
	for _, f := range e.fuzzers {
		fmt.Fprintf(w, "\t%s\texecutions\tseconds", f.name())
	}
	fmt.Fprintln(w)
	for _, bug := range e.bugs {
		fmt.Fprintf(w, "%s\t%s", bug.Name, bug.Target)
		for _, f := range e.fuzzers {
			fmt.Fprintf(w, "\t%s", e.cell(bug, f))
		}
		fmt.Fprintln(w)
	}
	err := w.Flush()
	return b.Bytes(), err
}

func (e *experiment) cell(b bug, f fuzzer) string {
	var trials []trial
	found := 0
	for _, r := range e.done {
		if r.Bug == b.Name && r.Fuzzer == f.name() {
			trials = append(trials, r)
			if r.Found {
				found++
			}
		}
	}
	switch n := len(trials); {
	case n == 0:
		return "not run\t\t"
	case 2*found <= n:
		return fmt.Sprintf("%d of %d\t-\t-", found, n)
	}
	slices.SortFunc(trials, func(a, b trial) int {
		if a.Found != b.Found {
			if a.Found {
				return -1
			}
			return 1
		}
		return int(a.Seconds*1e6) - int(b.Seconds*1e6)
	})
	median := trials[len(trials)/2]
	return fmt.Sprintf("%d of %d\t%d\t%.1f", found, len(trials), median.Executions, median.Seconds)
}

// scripted is a fuzzer that finds a bug after a fixed number of executions, each of which takes
// a second.
type scripted struct {
	after map[string]int64 // 0 means never
	now   *time.Time
}

func (scripted) name() string                  { return "scripted" }
func (scripted) prepare(context.Context) error { return nil }

func (f scripted) run(_ context.Context, s setup, found func()) (int64, error) {
	n := f.after[s.bug] * int64(s.trial)
	*f.now = f.now.Add(time.Duration(n) * time.Second)
	if n > 0 {
		found()
	}
	*f.now = f.now.Add(time.Hour) // cleanup time does not count
	return n, nil
}

func scriptedExperiment(dir, scratch string, log func(trial)) *experiment {
	now := time.Unix(0, 0)
	return &experiment{bugs: []bug{{"easy", "text"}, {"impossible", "json"}}, fuzzers: []fuzzer{scripted{map[string]int64{"easy": 10}, &now}},
		trials: 3, limit: time.Minute, atOnce: 1, workers: 1, dir: dir, scratch: scratch, now: func() time.Time { return now }, log: log}
}

func TestTable(t *testing.T) {
	e := scriptedExperiment(t.TempDir(), t.TempDir(), func(trial) {})
	require.NoError(t, e.run(t.Context()))
	require.Len(t, e.done, 6)
	require.Equal(t, trial{Bug: "easy", Target: "text", Fuzzer: "scripted", Number: 2, Found: true, Executions: 20, Seconds: 20, Limit: 60, AtOnce: 1, Workers: 1}, e.done[2])
	require.False(t, e.done[3].Found)
	table, err := os.ReadFile(filepath.Join(e.dir, "table.txt"))
	require.NoError(t, err)
	require.Regexp(t, `(?s)easy +text +3 of 3 +20 +20\.0\nimpossible +json +0 of 3 +- +-\n`, string(table))
}

// TestResume checks that an interrupted experiment continues, but only under the same
// conditions.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	e := scriptedExperiment(dir, t.TempDir(), func(r trial) {
		if r.Number == 2 {
			stop()
		}
	})
	require.NoError(t, e.run(ctx))
	require.Less(t, len(e.done), 6)
	e = scriptedExperiment(dir, t.TempDir(), func(trial) {})
	require.NoError(t, e.run(t.Context()))
	require.Len(t, e.done, 6)
	e = scriptedExperiment(dir, t.TempDir(), func(trial) {})
	e.workers = 2
	require.ErrorContains(t, e.run(t.Context()), "trials.jsonl:1: a trial of 60 s, 1 at once with 1 workers")
	require.NoError(t, os.WriteFile(filepath.Join(dir, trialsFile), []byte("{}\n"), 0o644))
	require.ErrorContains(t, e.run(t.Context()), "trials.jsonl:1: want a trial")
}
