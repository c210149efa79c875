package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Campaign is one that this process supervises.
type Campaign struct {
	config  Config
	folder  folder
	source  source
	lock    *os.File
	journal *journal
	stops   *stops
}

// Open takes the folder of a campaign, which it makes where there is none,
// builds what is fuzzed, and puts right what an earlier supervisor left: damaged
// files are moved away, inputs that were running are tried, crashers completed.
// It fails when another process has the folder. Close gives it back.
func Open(ctx context.Context, config Config) (*Campaign, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(config.Dir)
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	c := &Campaign{config: config, folder: folder(dir), stops: newStops()}
	if c.source, err = locate(ctx, config.Package, config.Tags); err != nil {
		return nil, err
	}
	if err := c.folder.make(config.Targets); err != nil {
		return nil, err
	}
	if c.lock, err = takeLock(c.folder.lock()); err != nil {
		return nil, err
	}
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close gives the folder back.
func (c *Campaign) Close() error {
	var err error
	if c.journal != nil {
		err = c.journal.close()
	}
	return errors.Join(err, c.lock.Close())
}

func (c *Campaign) prepare(ctx context.Context) error {
	subject, err := c.folder.claim(c.config)
	if err != nil {
		return err
	}
	journal, notice, err := openJournal(c.folder.journal())
	if err != nil {
		return err
	}
	c.journal = journal
	if notice != "" {
		if err := c.notice(Target{}, notice); err != nil {
			return err
		}
	}
	if err := c.obtain(ctx, subject); err != nil {
		return err
	}
	if err := c.folder.clear(); err != nil {
		return err
	}
	for _, t := range c.config.Targets {
		if err := c.resume(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// obtain puts the binary that fuzzes into the folder.
func (c *Campaign) obtain(ctx context.Context, s subject) error {
	if c.config.Built != "" {
		return c.folder.takeFuzz(c.config.Built)
	}
	c.config.Log("building " + c.source.ImportPath)
	return buildFuzz(ctx, s, c.folder.binary(fuzzBinary), c.config.Log)
}

// resume puts right what an earlier supervisor left of a target.
func (c *Campaign) resume(ctx context.Context, t Target) error {
	notices, err := c.folder.mendCorpus(t)
	if err != nil {
		return err
	}
	for _, n := range notices {
		if err := c.notice(t, n); err != nil {
			return err
		}
	}
	if err := c.folder.addCommitted(t, c.source); err != nil {
		return err
	}
	return c.settle(ctx, t)
}

// settle tries what was running when its process ended, and completes crashers.
func (c *Campaign) settle(ctx context.Context, t Target) error {
	if err := c.tryAgain(ctx, t, afterRestart); err != nil {
		return err
	}
	return c.complete(ctx, t)
}

// clear removes what was being filed when a process ended, and jobs.
func (f folder) clear() error {
	var leftovers []string
	for _, pattern := range []string{f.path("crashers", "*", ".new-*"), f.path("scratch", "job-*"), f.path("corpus", "*", ".*")} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			return fmt.Errorf("sealab: %w", err)
		}
		leftovers = append(leftovers, paths...)
	}
	for _, path := range leftovers {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("sealab: %w", err)
		}
	}
	return nil
}

// notice records something that went wrong while the campaign goes on.
func (c *Campaign) notice(t Target, text string) error {
	c.config.Log(text)
	return c.journal.append(Record{Time: c.config.Now(), Event: EventNotice, Target: t.Name, Text: text})
}
