// Package campaign runs many fuzz targets for days: it schedules them by what
// still finds new coverage, files every failure in a bucket and goes on, and
// keeps everything in one folder from which it resumes after any end.
//
// The engine is that of go test -fuzz, which package engine makes faster, run in
// slices of a number of executions; package harness stands between it and the
// targets. The folder:
//
//	lock                       held by the one supervisor that may write
//	campaign.json              what is fuzzed
//	journal.jsonl              executions, coverage, new inputs, events over time
//	corpus/<FuzzX>/<hash>      inputs that found new coverage, as go test -fuzz writes them
//	crashers/<target>/<bucket> one failure of each cause: see Crasher
//	deadly/<target>/           inputs that end their process, which are not run again
//	damaged/                   what could not be read, moved out of the way
//	bin/                       the binaries that are run
//	scratch/<target>/          the processes that run now; what they were running when they ended
//
// All but the files of the engine are written beside, synced and renamed. A
// file that the engine was writing when it was killed is recognised by its name,
// which is the digest of its contents. Executions since the last record of the
// journal are not counted again.
//
// It needs a Unix system, and the go command with the source of the module.
package campaign

import (
	"fmt"
	"runtime"
	"time"
)

// A Target is one fuzz function.
type Target struct {
	Name   string `json:"name"`   // "text"
	Native string `json:"native"` // "FuzzText"
}

// A Config says what a campaign fuzzes, and how.
type Config struct {
	Dir     string   // of the campaign
	Package string   // the package with the fuzz functions, as the go command takes it
	Replay  string   // the command that replays its inputs (harness.Main)
	Cover   string   // packages under test, patterns separated by commas: their coverage guides and is reported
	Tags    string   // build tags, separated by commas
	Built   string   // a binary of Build for the same package, cover and tags; "": the campaign builds its own
	Targets []Target // at least one

	Workers int              // processes that run inputs at one time; default one for each core
	Slice   time.Duration    // about how long a target runs before another takes its place; default DefaultSlice
	Env     []string         // more environment for the processes: limits of harness, say
	Now     func() time.Time // the clock
	Log     func(line string)
}

// DefaultSlice is long beside the start of a slice, in which the engine runs
// the corpus once, and short beside an evening.
const DefaultSlice = 20 * time.Second

func (c Config) complete() (Config, error) {
	if len(c.Targets) == 0 {
		return c, fmt.Errorf("sealab: a campaign without targets: want at least one")
	}
	if c.Workers < 0 || c.Slice < 0 {
		return c, fmt.Errorf("sealab: %d workers and slices of %v: want positive values", c.Workers, c.Slice)
	}
	if c.Workers == 0 {
		c.Workers = runtime.NumCPU()
	}
	if c.Slice == 0 {
		c.Slice = DefaultSlice
	}
	c.Log = c.log()
	return c, nil
}

// log returns Log, or what says nothing where there is none.
func (c Config) log() func(string) {
	if c.Log == nil {
		return func(string) {}
	}
	return c.Log
}
