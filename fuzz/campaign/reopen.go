package campaign

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// reopen takes the folder of a campaign that is there, to work with its corpora.
func reopen(ctx context.Context, dir string, now func() time.Time) (*Campaign, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	f := folder(dir)
	subject, err := f.readSubject()
	if err != nil {
		return nil, err
	}
	lock, err := takeLock(f.lock())
	if err != nil {
		return nil, err
	}
	c := &Campaign{folder: f, lock: lock, config: Config{Package: subject.Package, Tags: subject.Tags, Replay: subject.Replay, Cover: subject.Cover,
		Targets: subject.Targets, Now: now, Log: func(string) {}}}
	if err := f.make(subject.Targets); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if c.source, err = locate(ctx, subject.Package, subject.Tags); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if err := errors.Join(buildFuzz(ctx, subject, f.binary(fuzzBinary), c.config.Log), f.buildReplay(ctx, subject)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// chosen returns the targets of the campaign called names, all where there are
// none.
func (c *Campaign) chosen(names []string) ([]Target, error) {
	if len(names) == 0 {
		return c.config.Targets, nil
	}
	var all []Target
	for _, name := range names {
		found := false
		for _, t := range c.config.Targets {
			if t.Name == name {
				all, found = append(all, t), true
			}
		}
		if !found {
			return nil, fmt.Errorf("sealab: target %q never ran in %s; there are %s", name, c.folder, c.names())
		}
	}
	return all, nil
}

func (c *Campaign) names() string {
	var names []string
	for _, t := range c.config.Targets {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// livingCorpus returns the inputs of a target's corpus that do not end their
// process, and how many do: those stay in the corpus, and are not run.
func (c *Campaign) livingCorpus(ctx context.Context, t Target) (living []entry, deadly int, err error) {
	entries, broken, err := readCorpus(c.folder.corpus(t))
	if err != nil {
		return nil, 0, err
	}
	for path, reason := range broken {
		return nil, 0, fmt.Errorf("sealab: %s: %w; \"sealab fuzz run\" moves it away", path, reason)
	}
	verdicts, err := c.verdicts(ctx, t, inputsOf(entries))
	if err != nil {
		return nil, 0, err
	}
	for i, v := range verdicts {
		if v != nil && v.Kind.Deadly() {
			deadly++
			continue
		}
		living = append(living, entries[i])
	}
	return living, deadly, nil
}

func inputsOf(entries []entry) [][]byte {
	inputs := make([][]byte, len(entries))
	for i, e := range entries {
		inputs[i] = e.input
	}
	return inputs
}
