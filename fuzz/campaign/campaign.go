// Package campaign runs many fuzz targets for days. It schedules them by new coverage. It files
// every failure in a bucket and continues. All data is in one folder, from which the campaign
// resumes however it ended.
//
// It runs the engine of go test -fuzz, which package engine makes faster, in slices of a number
// of executions. Package harness runs the targets inside the processes. The folder:
//
//	lock                       held by the one process that may write
//	campaign.json              the Manifest
//	journal.jsonl              executions, coverage, new inputs and events over time
//	corpus/<FuzzX>/<hash>      inputs with new coverage, as go test -fuzz writes them
//	crashers/<target>/<bucket> one failure per cause: see Crasher
//	skip/<target>/             inputs that end their process and do not run again
//	damaged/                   unreadable files, moved out of the way
//	bin/                       the programs that run
//	scratch/<target>/          files of running processes, with the inputs that they run
//
// The package writes files under a temporary name, syncs and renames them. The engine does not,
// but it names a file after the digest of its contents, which reveals a truncated file. A kill
// loses only the count of executions since the last record of the journal.
//
// A campaign needs a Unix system, the go command, and the source of the module.
package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"sealab/fuzz/campaign/harness"
)

// A Target is one fuzz function.
type Target struct {
	Name   string `json:"name"`   // "text"
	Native string `json:"native"` // "FuzzText"
}

// A Config configures a campaign.
type Config struct {
	Dir     string   // folder of the campaign
	Package string   // the package with the fuzz functions, as an argument of the go command
	Replay  string   // package of the command that runs jobs under coverage (harness.Main)
	Cover   string   // patterns of the packages under test, separated by commas
	Tags    string   // build tags, separated by commas
	Built   string   // a program made by Build for the same Package, Cover and Tags; if "", one is built
	Targets []Target // at least one

	Workers int              // number of concurrent processes that run inputs; default one per core
	Slice   time.Duration    // approximate time that a target runs before the next one; default DefaultSlice
	Env     []string         // additional environment of the processes, for example limits of package harness
	Now     func() time.Time // the clock
	Log     func(line string)
}

// DefaultSlice is long compared to the start of a slice, which runs the whole corpus once. It
// is short compared to an evening.
const DefaultSlice = 20 * time.Second

func (c Config) complete() (Config, error) {
	if len(c.Targets) == 0 {
		return c, errors.New("a campaign needs at least one target")
	}
	if c.Workers < 0 || c.Slice < 0 {
		return c, fmt.Errorf("%d workers and slices of %v: want positive values", c.Workers, c.Slice)
	}
	if c.Workers == 0 {
		c.Workers = runtime.NumCPU()
	}
	if c.Slice == 0 {
		c.Slice = DefaultSlice
	}
	return c, c.manifest().check()
}

func (c Config) manifest() Manifest {
	return Manifest{Package: c.Package, Replay: c.Replay, Cover: c.Cover, Tags: c.Tags, Targets: c.Targets}
}

// log prints a line for a person.
func (c Config) log(line string) {
	if c.Log != nil {
		c.Log(Printable(line))
	}
}

// A Campaign is an open campaign. Only one process at a time can hold it.
type Campaign struct {
	config  Config
	folder  folder
	source  fuzzPackage
	lock    *os.File
	journal *journal

	stopsMu sync.Mutex
	stops   map[Target]int // consecutive early stops of the engine
}

// Open locks the folder of a campaign and creates it if necessary. It builds the program and
// repairs the files of an earlier process: it moves damaged files away, reruns the inputs that
// were running, and completes crashers. It fails if another process holds the folder. Close
// releases it.
func Open(ctx context.Context, config Config) (*Campaign, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	c, err := lockFolder(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// lockFolder locates the source of the campaign and locks its folder.
func lockFolder(ctx context.Context, config Config) (*Campaign, error) {
	dir, err := filepath.Abs(config.Dir)
	if err != nil {
		return nil, err
	}
	c := &Campaign{config: config, folder: folder(dir), stops: map[Target]int{}}
	if c.source, err = locatePackage(ctx, config.Package, config.Tags); err != nil {
		return nil, err
	}
	if err := c.folder.make(config.Targets); err != nil {
		return nil, err
	}
	c.lock, err = takeLock(c.folder.path("lock"))
	return c, err
}

// withCorpora locks an existing campaign and calls work with the targets of the given names, or
// with all.
func withCorpora(ctx context.Context, config Config, names []string, work func(*Campaign, []Target) error) error {
	c, err := reopenCampaign(ctx, config)
	if err != nil {
		return err
	}
	targets, err := c.chosen(names)
	if err == nil {
		err = work(c, targets)
	}
	return errors.Join(err, c.Close())
}

// reopenCampaign locks an existing campaign to work with its corpora, and builds its programs.
// Only tags and targets are read from the folder. The caller supplies the packages to build.
func reopenCampaign(ctx context.Context, config Config) (*Campaign, error) {
	m, err := ReadManifest(config.Dir)
	if err != nil {
		return nil, err
	}
	if m.Package != config.Package {
		return nil, fmt.Errorf("%s is a campaign on %s; want %s", config.Dir, m.Package, config.Package)
	}
	config.Tags, config.Targets = m.Tags, m.Targets
	c, err := lockFolder(ctx, config)
	if err != nil {
		return nil, err
	}
	if err = c.buildFuzz(ctx); err == nil {
		err = c.buildReplay(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close releases the folder.
func (c *Campaign) Close() error {
	var err error
	if c.journal != nil {
		err = c.journal.close()
	}
	return errors.Join(err, c.lock.Close())
}

func (c *Campaign) prepare(ctx context.Context) error {
	if err := c.folder.claim(c.config.manifest()); err != nil {
		return err
	}
	journal, notice, err := openJournal(c.folder.path(journalFile))
	if err != nil {
		return err
	}
	c.journal = journal
	if notice != "" {
		if err := c.notice(Target{}, notice); err != nil {
			return err
		}
	}
	if err := c.buildFuzz(ctx); err != nil {
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

// resume repairs the files that an earlier process left for a target.
func (c *Campaign) resume(ctx context.Context, t Target) error {
	notices, err := c.folder.repairCorpus(t)
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

// settle reruns the inputs that were running when a process ended, and completes crashers.
func (c *Campaign) settle(ctx context.Context, t Target) error {
	if err := c.retry(ctx, t, explainAfterRestart); err != nil {
		return err
	}
	return c.complete(ctx, t)
}

// notice records a fault after which the campaign continues.
func (c *Campaign) notice(t Target, text string) error {
	c.config.log(text)
	return c.journal.append(Record{Time: c.config.Now(), Event: EventNotice, Target: t.Name, Text: text})
}

// environment returns the environment of the processes of one target. Temporary files stay in
// the folder of the campaign, and the next start removes them.
func (c *Campaign) environment(scratch string, more ...string) []string {
	env := append(os.Environ(), harness.EnvScratch+"="+scratch, harness.EnvSource+"="+c.source.Dir, "TMPDIR="+scratch)
	return append(append(env, c.config.Env...), more...)
}
