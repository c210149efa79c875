package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sealab/fuzz/campaign/harness"
	"sealab/internal/child"
)

// A slice is one run of one target.
type slice struct {
	target  Target
	budget  int64 // executions
	workers int
}

// A sliceResult is what became of a slice.
type sliceResult struct {
	slice
	count
	seconds float64
	failed  bool   // the engine stopped before its time
	tail    string // and said so
}

// endTime is how long an engine that was told to end may take.
const endTime = 15 * time.Second

// runSlice runs s and calls progress now and then. An engine that stops before
// its time is a result; only a process that cannot be run is an error.
func (c *Campaign) runSlice(ctx context.Context, s slice, progress func(count)) (sliceResult, error) {
	result := sliceResult{slice: s}
	scratch := c.folder.scratch(s.target)
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return result, fmt.Errorf("sealab: %w", err)
	}
	cmd := exec.CommandContext(ctx, c.folder.binary(fuzzBinary),
		"-test.run=^$", "-test.fuzz=^"+s.target.Native+"$", "-test.fuzzcachedir="+c.folder.corpora(),
		"-test.fuzztime="+strconv.FormatInt(s.budget, 10)+"x", "-test.fuzzminimizetime="+minimizeExecutions,
		"-test.parallel="+strconv.Itoa(s.workers))
	cmd.Dir = scratch
	cmd.Env = c.environment(scratch, harness.EnvCrashers+"="+c.folder.allCrashers(), harness.EnvDeadly+"="+c.folder.allDeadly(), "GODEBUG=fuzzdebug=1", oneThread)
	cmd.SysProcAttr = child.Attributes()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = endTime
	out, err := cmd.StdoutPipe()
	if err != nil {
		return result, fmt.Errorf("sealab: %w", err)
	}
	cmd.Stderr = cmd.Stdout
	began := c.config.Now()
	if err := cmd.Start(); err != nil {
		return result, fmt.Errorf("sealab: %w", err)
	}
	var output engineOutput
	readErr := output.read(out, progress)
	err = cmd.Wait()
	result.count, result.seconds = output.count, c.config.Now().Sub(began).Seconds()
	result.failed, result.tail = err != nil && ctx.Err() == nil, strings.Join(output.tail, "\n")
	if output.blind {
		return result, fmt.Errorf("sealab: fuzzing %s runs blind: no package of %q has counters", s.target.Name, c.config.Cover)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
		return result, fmt.Errorf("sealab: fuzzing %s: %w", s.target.Name, errors.Join(err, readErr))
	}
	return result, nil
}

// minimizeExecutions is what the engine may spend to make one new input
// smaller. Its own default is a minute, which is most of a slice.
const minimizeExecutions = "500x"

// oneThread keeps the runtime of each process to one processor. There is a
// process for each, and the engine starts a goroutine for every input: with more
// it wakes a thread for every input, which takes a fifth of the time.
const oneThread = "GOMAXPROCS=1"

// environment is what the processes of one target run in. Temporary files stay
// in the campaign's folder, where the next start clears them away.
func (c *Campaign) environment(scratch string, more ...string) []string {
	env := append(os.Environ(), harness.EnvScratch+"="+scratch, harness.EnvSource+"="+c.source.Dir, "TMPDIR="+scratch)
	return append(append(env, c.config.Env...), more...)
}
