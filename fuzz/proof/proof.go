// Package proof measures whether fuzzing finds things: for each bug that the
// build tag planted puts into the catalog, several engines hunt it with several
// seeds, and it is recorded after how many executions and how long it was found.
//
// Every engine runs the same code, the one fuzz target that the bug names, from
// the same seeds, with as many workers. A bug that a seed meets is found before
// the first mutation: its executions are those of the seeds.
//
// The seed of a trial is that of the engine's own generator: GODEBUG=fuzzseed
// for the engine of go test. go-fuzz cannot be given one; its trials only repeat.
// Times include the start of the engine and exclude building. Executions are what
// the engine last said before the end: go-fuzz speaks every three seconds, so what
// it finds before that has 0.
package proof

import (
	"context"
	"fmt"
	"time"

	"sealab/fuzz/target"
)

// A Bug is what is hunted.
type Bug struct{ Name, Target string }

// A Trial is one hunt.
type Trial struct {
	Bug        string  `json:"bug"`
	Target     string  `json:"target"`
	Engine     string  `json:"engine"`
	Seed       int     `json:"seed"`
	Found      bool    `json:"found"`
	Executions int64   `json:"executions"` // until it was found, or the limit
	Seconds    float64 `json:"seconds"`
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
}

// A Proof is one measurement.
type Proof struct {
	Bugs    []Bug
	Engines []Engine
	Seeds   int           // trials of each bug with each engine
	Limit   time.Duration // of one trial
	Folder  func() (dir string, remove func(), err error)
	Now     func() time.Time
	Log     func(Trial)
}

// Run does every trial, all engines on a bug before the next one. It returns
// those that were done when ctx ended, and no error then.
func (p Proof) Run(ctx context.Context) ([]Trial, error) {
	for _, e := range p.Engines {
		if err := e.Prepare(ctx); err != nil {
			return nil, fmt.Errorf("sealab: %s: %w", e.Name(), err)
		}
	}
	var trials []Trial
	for _, bug := range p.Bugs {
		for seed := 1; seed <= p.Seeds; seed++ {
			for _, e := range p.Engines {
				trial, err := p.try(ctx, e, bug, seed)
				if ctx.Err() != nil {
					return trials, nil
				}
				if err != nil {
					return trials, fmt.Errorf("sealab: %s, hunting %s: %w", e.Name(), bug.Name, err)
				}
				trials = append(trials, trial)
				p.Log(trial)
			}
		}
	}
	return trials, nil
}

func (p Proof) try(ctx context.Context, e Engine, bug Bug, seed int) (Trial, error) {
	trial := Trial{Bug: bug.Name, Target: bug.Target, Engine: e.Name(), Seed: seed}
	t, err := target.Find(bug.Target)
	if err != nil {
		return trial, err
	}
	dir, remove, err := p.Folder()
	if err != nil {
		return trial, err
	}
	defer remove()
	chase, err := e.Begin(ctx, Hunt{bug.Name, t, seed, dir})
	if err != nil {
		return trial, err
	}
	ctx, stop := context.WithTimeout(ctx, p.Limit)
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
