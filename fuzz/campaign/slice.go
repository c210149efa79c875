package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/engine"
	"sealab/internal/command"
)

// A targetSlice is one run of one target.
type targetSlice struct {
	target  Target
	budget  int64 // executions
	workers int
}

// A sliceResult is the outcome of a slice.
type sliceResult struct {
	targetSlice
	engine.Output
	seconds float64
	failed  bool // the engine stopped before its budget was used
}

// endTime is the time that an interrupted engine has to end.
const endTime = 15 * time.Second

// minimizeExecutions is the engine's budget to minimize a new input. The engine's default is a
// minute, which exceeds a slice.
const minimizeExecutions = "500x"

// runSlice runs s and calls progress after each line of statistics. If the engine stops early,
// that is recorded in the result. If the process cannot run, that is an error.
func (c *Campaign) runSlice(ctx context.Context, s targetSlice, progress func(engine.Count)) (sliceResult, error) {
	result := sliceResult{targetSlice: s}
	scratch := c.folder.scratch(s.target)
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return result, err
	}
	cmd := exec.CommandContext(ctx, c.folder.program(fuzzProgram),
		"-test.run=^$", "-test.fuzz=^"+s.target.Native+"$", "-test.fuzzcachedir="+c.folder.path("corpus"),
		"-test.fuzztime="+strconv.FormatInt(s.budget, 10)+"x", "-test.fuzzminimizetime="+minimizeExecutions,
		"-test.parallel="+strconv.Itoa(s.workers))
	cmd.Dir = scratch
	cmd.Env = append(c.environment(scratch, harness.EnvCrashers+"="+c.folder.path("crashers"), harness.EnvSkip+"="+c.folder.path("skip")), engine.ProcessEnv...)
	cmd.SysProcAttr = command.TiedChild()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = endTime
	out, err := cmd.StdoutPipe()
	if err != nil {
		return result, err
	}
	cmd.Stderr = cmd.Stdout
	began := c.config.Now()
	if err := cmd.Start(); err != nil {
		return result, err
	}
	readErr := result.Read(out, progress)
	err = cmd.Wait()
	result.seconds, result.failed = c.config.Now().Sub(began).Seconds(), err != nil && ctx.Err() == nil
	if result.Blind {
		return result, fmt.Errorf("fuzzing %s runs without coverage: no package of %q has counters", s.target.Name, c.config.Cover)
	}
	if result.None {
		return result, fmt.Errorf("fuzzing %s: %s has no function %s", s.target.Name, c.config.Package, s.target.Native)
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited && ctx.Err() == nil {
		return result, fmt.Errorf("fuzzing %s: %w", s.target.Name, errors.Join(err, readErr))
	}
	return result, nil
}

// recordInterval is the time between progress records of a slice.
const recordInterval = 10 * time.Second

// A sliceMeter records the progress of a slice, as differences between the engine's totals.
type sliceMeter struct {
	campaign *Campaign
	target   Target
	workers  int
	last     time.Time
	recorded engine.Count
	err      error // the first write error
}

func (m *sliceMeter) progress(now engine.Count) {
	if m.err == nil && m.campaign.config.Now().Sub(m.last) >= recordInterval {
		m.err = m.record(now)
	}
}

func (m *sliceMeter) record(now engine.Count) error {
	at := m.campaign.config.Now()
	r := Record{
		Time: at, Event: EventProgress, Target: m.target.Name,
		Executions: now.Executions - m.recorded.Executions, Seconds: at.Sub(m.last).Seconds() * float64(m.workers), New: now.New - m.recorded.New,
		Coverage: now.Coverage, Corpus: now.Corpus,
	}
	m.recorded, m.last = now, at
	return m.campaign.journal.append(r)
}
