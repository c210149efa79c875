package campaign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sealab/fuzz/campaign/harness"
	"sealab/internal/atomicfile"
	"sealab/internal/command"
)

// The files that Cover writes to the folder of a campaign: a profile for go tool cover, and the
// covered share of statements by package.
const (
	coverProfile = "cover.out"
	CoverTable   = "cover.txt"
)

// Cover runs the seeds and corpora of the targets with the given names, or of all. It writes
// the coverage of the packages under test to the files coverProfile and CoverTable, and returns
// the table.
func Cover(ctx context.Context, config Config, names []string) (table []byte, err error) {
	err = withCorpora(ctx, config, names, func(c *Campaign, targets []Target) error {
		table, err = c.coverAll(ctx, targets)
		return err
	})
	return table, err
}

func (c *Campaign) coverAll(ctx context.Context, targets []Target) (table []byte, err error) {
	counters, err := os.MkdirTemp(c.folder.path("scratch"), "job-counters-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(counters)
	for _, t := range targets {
		if err := c.cover(ctx, t, counters); err != nil {
			return nil, err
		}
	}
	if _, err := command.Go(ctx, "tool", "covdata", "textfmt", "-i="+counters, "-o="+c.folder.path(coverProfile)); err != nil {
		return nil, err
	}
	out, err := command.Go(ctx, "tool", "covdata", "percent", "-i="+counters)
	if err != nil {
		return nil, err
	}
	table = c.tableOf(string(out))
	return table, atomicfile.Write(c.folder.path(CoverTable), table)
}

// tableOf returns the output of covdata percent, except the line for the replay command.
func (c *Campaign) tableOf(percent string) []byte {
	var table strings.Builder
	for line := range strings.Lines(percent) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] != c.config.Replay {
			table.WriteString(strings.Join(fields, " ") + "\n")
		}
	}
	return []byte(table.String())
}

// cover runs the corpus of one target and writes the counters to a folder.
func (c *Campaign) cover(ctx context.Context, t Target, counters string) error {
	entries, _, err := c.livingCorpus(ctx, t)
	if err != nil {
		return err
	}
	end, err := c.runCovered(ctx, t, harness.Job{Kind: harness.JobCover, Inputs: inputsOf(entries)}, counters)
	if err == nil && end.err != nil {
		return end.fault(t, harness.JobCover)
	}
	return err
}

// A Minimized is the result of minimizing one corpus.
type Minimized struct {
	Target       Target
	Inputs, Kept int
	Features     int // of seeds and inputs: counters together with their powers of two
}

// Minimize reduces the corpora of the targets with the given names, or of all, to a greedy set
// cover of their features. Failing inputs are kept.
func Minimize(ctx context.Context, config Config, names []string) (all []Minimized, err error) {
	err = withCorpora(ctx, config, names, func(c *Campaign, targets []Target) error {
		for _, t := range targets {
			m, err := c.minimize(ctx, t)
			if err != nil {
				return err
			}
			all = append(all, m)
		}
		return nil
	})
	return all, err
}

func (c *Campaign) minimize(ctx context.Context, t Target) (Minimized, error) {
	m := Minimized{Target: t}
	entries, ending, err := c.livingCorpus(ctx, t)
	if err != nil {
		return m, err
	}
	m.Inputs = len(entries) + ending
	end, err := c.runCovered(ctx, t, harness.Job{Kind: harness.JobSelect, Inputs: inputsOf(entries)}, "")
	if err != nil {
		return m, err
	}
	if len(end.results) != 1 {
		return m, end.fault(t, harness.JobSelect)
	}
	keep := make([]bool, len(entries))
	for _, i := range end.results[0].Kept {
		keep[i] = true
	}
	m.Kept, m.Features = ending+len(end.results[0].Kept), end.results[0].Covered
	for i, e := range entries {
		if keep[i] {
			continue
		}
		if err := os.Remove(e.path); err != nil {
			return m, err
		}
	}
	return m, nil
}

// chosen returns the targets of the campaign with the given names, or all if there are none.
func (c *Campaign) chosen(names []string) ([]Target, error) {
	if len(names) == 0 {
		return c.config.Targets, nil
	}
	byName := map[string]Target{}
	var known []string
	for _, t := range c.config.Targets {
		byName[t.Name] = t
		known = append(known, t.Name)
	}
	var all []Target
	for _, name := range names {
		t, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("target %q never ran in %s; there are %s", name, c.folder, strings.Join(known, ", "))
		}
		all = append(all, t)
	}
	return all, nil
}

// livingCorpus returns the inputs in the corpus of a target that do not end their process. It
// also returns the number of those that do, which stay in the corpus.
func (c *Campaign) livingCorpus(ctx context.Context, t Target) (living []corpusEntry, ending int, err error) {
	entries, broken, err := readCorpus(c.folder.corpus(t))
	if err != nil {
		return nil, 0, err
	}
	for path, reason := range broken {
		return nil, 0, fmt.Errorf("%s: %w; \"sealab fuzz run\" moves it away", filepath.Clean(path), reason)
	}
	failures, err := c.failures(ctx, t, inputsOf(entries))
	if err != nil {
		return nil, 0, err
	}
	for i, failed := range failures {
		if failed != nil && failed.Kind.EndsProcess() {
			ending++
			continue
		}
		living = append(living, entries[i])
	}
	return living, ending, nil
}
