package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"sealab/fuzz/campaign/harness"
)

// A Minimized is what became of one corpus.
type Minimized struct {
	Target       Target
	Inputs, Kept int
	Features     int // what seeds and inputs cover: counters, with how often to a power of two
}

// Minimize reduces the corpora of the campaign in dir, of the targets called
// names or of all, each to a greedy set cover of its features. An input that
// fails stays.
func Minimize(ctx context.Context, dir string, names []string, now func() time.Time) (all []Minimized, err error) {
	c, err := reopen(ctx, dir, now)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	targets, err := c.chosen(names)
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		m, err := c.minimize(ctx, t)
		if err != nil {
			return all, err
		}
		all = append(all, m)
	}
	return all, nil
}

func (c *Campaign) minimize(ctx context.Context, t Target) (Minimized, error) {
	m := Minimized{Target: t}
	entries, deadly, err := c.livingCorpus(ctx, t)
	if err != nil {
		return m, err
	}
	m.Inputs = len(entries) + deadly
	end, err := c.runCovered(ctx, t, harness.Job{Kind: harness.JobCover, Inputs: inputsOf(entries)}, "")
	if err != nil {
		return m, err
	}
	if len(end.results) != 1 {
		return m, end.fault(t, harness.JobCover)
	}
	keep := make([]bool, len(entries))
	for _, i := range end.results[0].Kept {
		keep[i] = true
	}
	m.Kept, m.Features = deadly+len(end.results[0].Kept), end.results[0].Covered
	for i, e := range entries {
		if keep[i] {
			continue
		}
		if err := os.Remove(e.path); err != nil {
			return m, fmt.Errorf("sealab: %w", err)
		}
	}
	return m, nil
}
