// Package proof measures whether fuzzing finds things: for each bug that the
// build tag planted puts into the catalog, several engines hunt it with several
// seeds, and it is recorded after how many executions and how long it was found.
//
// Every engine runs the same code, the one fuzz target that the bug names, from
// the same seeds, with as many workers. Trials may run beside each other: then
// each has its share of the machine, and the table says so. A bug that a seed meets is found before
// the first mutation: its executions are those of the seeds.
//
// The seed of a trial is that of the generator of go test's engine, by
// GODEBUG=fuzzseed. go-fuzz cannot be given one, and a campaign would draw the
// same in each of its slices; their trials only repeat.
// Times include the start of the engine and exclude building. Executions are what
// the engine last said before the end: go-fuzz speaks every three seconds, so what
// it finds before that has 0.
package proof

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"sealab/fuzz/target"
	"sealab/internal/sourcetree"
)

// A Bug is what is hunted.
type Bug struct{ Name, Target string }

// A Trial is one hunt, and under which conditions.
type Trial struct {
	Bug        string  `json:"bug"`
	Target     string  `json:"target"`
	Engine     string  `json:"engine"`
	Seed       int     `json:"seed"`
	Found      bool    `json:"found"`
	Executions int64   `json:"executions"` // until it was found, or the limit
	Seconds    float64 `json:"seconds"`
	Limit      float64 `json:"limit_seconds"`
	AtOnce     int     `json:"at_once"` // trials that ran beside each other, this one counted
	Workers    int     `json:"workers"` // processes of this one that ran inputs
}

// An Engine hunts bugs.
type Engine interface {
	Name() string
	// Prepare builds what hunts need.
	Prepare(ctx context.Context) error
	// Begin gets a hunt ready: a target with one bug planted.
	Begin(ctx context.Context, h Hunt) (Chase, error)
}

// A Chase fuzzes until the bug is found or ctx ends, which is no error. It calls
// found as soon as the bug is, and may have to clean up after that.
type Chase func(ctx context.Context, found func()) (executions int64, err error)

// A Hunt is what an engine is asked for.
type Hunt struct {
	Bug    string
	Target target.Target
	Seed   int
	Dir    string // an empty folder inside the module
	// Workers is how many processes run inputs.
	Workers int
}

// An Entrant is an engine with the limit of each of its trials.
type Entrant struct {
	Engine
	Limit time.Duration
}

// A Proof is one measurement.
type Proof struct {
	Bugs     []Bug
	Entrants []Entrant
	Seeds    int     // trials of each bug with each engine
	AtOnce   int     // trials that run at one time
	Workers  int     // processes of each that run inputs
	Done     []Trial // by an earlier run: they are not done again
	Folder   func() (dir string, remove func(), err error)
	Now      func() time.Time
	Record   func(Trial) error // called with each trial, one at a time
}

// Run does every trial that is not done: all bugs with all engines from the
// first seed before any from the second, so that what there is when ctx ends,
// which is no error, says something of each bug.
func (p Proof) Run(ctx context.Context) error {
	if err := sourcetree.Check(ctx, ""); err != nil {
		return err
	}
	for _, e := range p.Entrants {
		if err := e.Prepare(ctx); err != nil {
			return fmt.Errorf("sealab: %s: %w", e.Name(), err)
		}
	}
	hunting, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	plans := make(chan plan)
	var wait sync.WaitGroup
	var recording sync.Mutex
	for range p.AtOnce {
		wait.Go(func() {
			for next := range plans {
				if err := p.do(hunting, next, &recording); err != nil {
					fail(err)
				}
			}
		})
	}
	offer(hunting, p.plans(), plans)
	wait.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(hunting)
}

// A plan is a trial that is to be done.
type plan struct {
	Entrant
	bug  Bug
	seed int
}

// plans returns the trials that are not done: all bugs from one seed before the
// next.
func (p Proof) plans() []plan {
	var all []plan
	for seed := 1; seed <= p.Seeds; seed++ {
		for _, bug := range p.Bugs {
			for _, e := range p.Entrants {
				all = append(all, plan{e, bug, seed})
			}
		}
	}
	return slices.DeleteFunc(all, p.isDone)
}

// offer sends plans until ctx ends.
func offer(ctx context.Context, all []plan, plans chan<- plan) {
	defer close(plans)
	for _, next := range all {
		select {
		case plans <- next:
		case <-ctx.Done():
			return
		}
	}
}

func (p Proof) isDone(next plan) bool {
	return slices.ContainsFunc(p.Done, func(t Trial) bool {
		return t.Bug == next.bug.Name && t.Engine == next.Name() && t.Seed == next.seed
	})
}

// do does one trial. One that ctx ended is not recorded.
func (p Proof) do(ctx context.Context, next plan, recording *sync.Mutex) error {
	trial, err := p.try(ctx, next)
	recording.Lock()
	defer recording.Unlock()
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("sealab: %s, hunting %s: %w", trial.Engine, trial.Bug, err)
	}
	return p.Record(trial)
}

func (p Proof) try(ctx context.Context, next plan) (Trial, error) {
	trial := Trial{Bug: next.bug.Name, Target: next.bug.Target, Engine: next.Name(), Seed: next.seed,
		Limit: next.Limit.Seconds(), AtOnce: p.AtOnce, Workers: p.Workers}
	t, err := target.Find(next.bug.Target)
	if err != nil {
		return trial, err
	}
	dir, remove, err := p.Folder()
	if err != nil {
		return trial, err
	}
	defer remove()
	chase, err := next.Begin(ctx, Hunt{next.bug.Name, t, next.seed, dir, p.Workers})
	if err != nil {
		return trial, err
	}
	ctx, stop := context.WithTimeout(ctx, next.Limit)
	defer stop()
	begun := p.Now()
	trial.Executions, err = chase(ctx, func() {
		trial.Found, trial.Seconds = true, p.Now().Sub(begun).Seconds()
	})
	if !trial.Found {
		trial.Seconds = p.Now().Sub(begun).Seconds()
	}
	return trial, err
}
