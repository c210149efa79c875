package campaign

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
)

// Run fuzzes until ctx ends or a fault occurs, and then completes the crashers of the last
// slices. The end of ctx is not an error.
func (c *Campaign) Run(ctx context.Context) error {
	if err := c.journal.append(Record{Time: c.config.Now(), Event: eventStart}); err != nil {
		return err
	}
	slicing, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	shares := newSchedule(c.config.Targets)
	var wait sync.WaitGroup
	for _, workers := range workersByTarget(c.config.Workers, len(c.config.Targets)) {
		wait.Go(func() {
			if err := c.takeTurns(slicing, shares, workers); err != nil {
				stop(err)
			}
		})
	}
	wait.Wait()
	if err := context.Cause(slicing); ctx.Err() == nil && err != nil {
		return err
	}
	for _, t := range c.config.Targets {
		if err := c.settle(context.WithoutCancel(ctx), t); err != nil {
			return err
		}
	}
	return c.journal.append(Record{Time: c.config.Now(), Event: eventStop})
}

// workersByTarget returns the number of workers for each target that runs concurrently. It is
// one each, unless there are fewer targets than workers.
func workersByTarget(workers, targets int) []int {
	slots := make([]int, min(workers, targets))
	for i := range workers {
		slots[i%len(slots)]++
	}
	return slots
}

// take calls turn with the next target and records the result. It is safe for concurrent use.
func (s *schedule) take(seconds float64, turn func(t Target, budget int64) (sliceResult, error)) error {
	s.mu.Lock()
	next := s.next()
	budget := next.executions(seconds)
	s.mu.Unlock()
	result, err := turn(next.target, budget)
	s.mu.Lock()
	defer s.mu.Unlock()
	next.ran(result.seconds, result.Executions, result.New)
	return err
}

// takeTurns runs slices until ctx ends.
func (c *Campaign) takeTurns(ctx context.Context, shares *schedule, workers int) error {
	for ctx.Err() == nil {
		err := shares.take(c.config.Slice.Seconds(), func(t Target, budget int64) (sliceResult, error) {
			return c.turn(ctx, targetSlice{t, budget, workers})
		})
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// turn runs one slice and files its failures.
func (c *Campaign) turn(ctx context.Context, s targetSlice) (sliceResult, error) {
	meter := sliceMeter{campaign: c, target: s.target, workers: s.workers, last: c.config.Now()}
	result, err := c.runSlice(ctx, s, meter.progress)
	if err := errors.Join(err, meter.err); err != nil {
		return result, err
	}
	if err := meter.record(result.Count); err != nil || ctx.Err() != nil {
		return result, err
	}
	return result, c.file(ctx, result)
}

// file files the failures of a slice.
func (c *Campaign) file(ctx context.Context, result sliceResult) error {
	t := result.target
	if !result.failed {
		c.countStop(t, false)
		if err := c.folder.clearScratch(t); err != nil {
			return err
		}
		return c.complete(ctx, t)
	}
	if suspects, _ := c.folder.suspects(t); len(suspects) == 0 {
		if err := c.stoppedBetween(result); err != nil {
			return err
		}
	}
	if err := c.retry(ctx, t, explainAfterFailure); err != nil {
		return err
	}
	return c.complete(ctx, t)
}

// maxStops is the number of consecutive stops between two inputs at which a campaign ends.
const maxStops = 5

// stoppedBetween records that the engine stopped while no input was running, for example
// because its process was killed. The next slice starts a new process. At maxStops in a row,
// stoppedBetween returns an error.
func (c *Campaign) stoppedBetween(result sliceResult) error {
	t, output := result.target, strings.Join(strings.Fields(strings.Join(result.Tail, "\n")), " ")
	if err := c.folder.checkRoom(t); err != nil {
		return err
	}
	if times := c.countStop(t, true); times == maxStops {
		return fmt.Errorf("fuzzing %s failed %d times while no input ran: %s", t.Name, times, output)
	}
	return c.notice(t, fmt.Sprintf("%s: the engine stopped between two inputs and restarts: %s", t.Name, output))
}

// countStop counts consecutive stops of the engine on a target and returns the count. A slice
// without a stop resets it.
func (c *Campaign) countStop(t Target, stopped bool) int {
	c.stopsMu.Lock()
	defer c.stopsMu.Unlock()
	if stopped {
		c.stops[t]++
	} else {
		delete(c.stops, t)
	}
	return c.stops[t]
}

// A schedule divides the cores among targets by new coverage (stride scheduling). Each target
// has a clock, and the target with the lowest clock runs next. A clock runs slower if its
// target recently found new inputs. A target that has found nothing for days still runs, at
// worst maxWeight times less than the best one.
type schedule struct {
	mu     sync.Mutex
	shares []*targetShare
}

type targetShare struct {
	target  Target
	clock   float64 // seconds run, each divided by the weight at that time
	recent  float64 // new inputs of recent slices, with decay
	rate    float64 // executions per second; 0 before the first slice
	running bool
}

const (
	maxWeight   = 5
	recentDecay = 0.5 // factor for recent from slice to slice
	muchFound   = 64  // recent new inputs that give the maximum weight
)

func newSchedule(targets []Target) *schedule {
	s := &schedule{}
	for _, t := range targets {
		s.shares = append(s.shares, &targetShare{target: t, recent: muchFound}) // as much as possible: it is unknown
	}
	return s
}

// next returns the target to run next and marks it as running. It returns nil if all targets
// are running.
func (s *schedule) next() *targetShare {
	var next *targetShare
	for _, candidate := range s.shares {
		if !candidate.running && (next == nil || candidate.clock < next.clock) {
			next = candidate
		}
	}
	if next != nil {
		next.running = true
	}
	return next
}

// ran records the result of a slice.
func (sh *targetShare) ran(seconds float64, executions int64, found int) {
	sh.running = false
	sh.clock += max(seconds, 0.1) / sh.weight()
	sh.recent = sh.recent*recentDecay + float64(found)
	if seconds > 0 && executions > 0 {
		sh.rate = float64(executions) / seconds
	}
}

// weight returns the share of the target, from 1 to maxWeight.
func (sh *targetShare) weight() float64 {
	return 1 + (maxWeight-1)*min(1, math.Log2(1+sh.recent)/math.Log2(1+muchFound))
}

// The limits of a slice, in executions.
const (
	firstSlice = 20_000
	minSlice   = 1_000
	maxSlice   = 50_000_000
)

// executions returns the number of executions that take about the given time.
func (sh *targetShare) executions(seconds float64) int64 {
	if sh.rate == 0 {
		return firstSlice
	}
	return min(maxSlice, max(minSlice, int64(sh.rate*seconds)))
}
