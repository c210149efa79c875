package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sealab/fuzz/campaign/harness"
)

// CoverTable is the file in a campaign's folder that keeps the table of the last
// Profile, for ReadReport.
const CoverTable = "cover.txt"

// Cover runs the seeds and corpora of the campaign in dir, of the targets called
// names or of all, and returns what they run of the packages under test.
func Cover(ctx context.Context, dir string, names []string, now func() time.Time) (p Profile, err error) {
	p.blocks = map[string]*block{}
	c, err := reopen(ctx, dir, now)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	targets, err := c.chosen(names)
	if err != nil {
		return p, err
	}
	counters, err := os.MkdirTemp(c.folder.scratches(), "job-counters-")
	if err != nil {
		return p, fmt.Errorf("sealab: %w", err)
	}
	defer os.RemoveAll(counters)
	for _, t := range targets {
		if err := c.cover(ctx, t, counters); err != nil {
			return p, err
		}
	}
	text := filepath.Join(counters, "profile")
	if _, err := goCommand(ctx, "tool", "covdata", "textfmt", "-i="+counters, "-o="+text); err != nil {
		return p, err
	}
	return p, p.add(text, c.config.Replay)
}

// cover writes the counters of what one target runs to a folder.
func (c *Campaign) cover(ctx context.Context, t Target, counters string) error {
	entries, _, err := c.livingCorpus(ctx, t)
	if err != nil {
		return err
	}
	end, err := c.runCovered(ctx, t, harness.Job{Kind: harness.JobRun, Inputs: inputsOf(entries)}, counters)
	if err != nil {
		return err
	}
	if end.err != nil {
		return end.fault(t, harness.JobRun)
	}
	return nil
}
