package campaign

import (
	"context"
	"errors"
	"sync"
)

// Run fuzzes until ctx ends, which is no error, or something fails that is not
// a finding. Then it completes the crashers of the last slices.
func (c *Campaign) Run(ctx context.Context) error {
	if err := c.journal.append(Record{Time: c.config.Now(), Event: EventStart}); err != nil {
		return err
	}
	slicing, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	shares := &sharing{schedule: newSchedule(c.config.Targets)}
	var wait sync.WaitGroup
	for _, workers := range spread(c.config.Workers, len(c.config.Targets)) {
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
	return c.journal.append(Record{Time: c.config.Now(), Event: EventStop})
}

// spread returns with how many workers each of the targets that run at one time
// runs: with one, unless there are fewer targets than workers.
func spread(workers, targets int) []int {
	slots := make([]int, min(workers, targets))
	for i := range workers {
		slots[i%len(slots)]++
	}
	return slots
}

// sharing is a schedule for concurrent use.
type sharing struct {
	mu       sync.Mutex
	schedule *schedule
}

// take calls turn with the target that is due, and tells the schedule what it did.
func (s *sharing) take(seconds float64, turn func(t Target, budget int64) (sliceResult, error)) error {
	s.mu.Lock()
	next := s.schedule.next()
	budget := next.executions(seconds)
	s.mu.Unlock()
	result, err := turn(next.target, budget)
	s.mu.Lock()
	defer s.mu.Unlock()
	next.ran(result.seconds, result.executions, result.found)
	return err
}

// takeTurns runs slices until ctx ends.
func (c *Campaign) takeTurns(ctx context.Context, shares *sharing, workers int) error {
	for ctx.Err() == nil {
		err := shares.take(c.config.Slice.Seconds(), func(t Target, budget int64) (sliceResult, error) {
			return c.turn(ctx, slice{t, budget, workers})
		})
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// turn runs one slice, and files what it found.
func (c *Campaign) turn(ctx context.Context, s slice) (sliceResult, error) {
	meter := meter{campaign: c, target: s.target, workers: s.workers, last: c.config.Now()}
	result, err := c.runSlice(ctx, s, meter.progress)
	if err := errors.Join(err, meter.err); err != nil {
		return result, err
	}
	if err := meter.record(result.count); err != nil || ctx.Err() != nil {
		return result, err
	}
	return result, c.file(ctx, result)
}

// file files what a slice found.
func (c *Campaign) file(ctx context.Context, result sliceResult) error {
	t := result.target
	if !result.failed {
		c.stops.ran(t)
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
	if err := c.tryAgain(ctx, t, afterFailure); err != nil {
		return err
	}
	return c.complete(ctx, t)
}
