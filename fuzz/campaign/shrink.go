package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sealab/fuzz/campaign/harness"
)

// An inputSequence is a list of inputs for one process. The last one fails. Those before it
// change the state of the process so that it does.
type inputSequence struct {
	before [][]byte
	input  []byte
}

// shrinkTime limits the minimization of a sequence, during which the target does not fuzz.
const shrinkTime = 20 * time.Second

// maxTries returns the maximum number of inputs to run to minimize a failure of a kind. A
// failure that ends its process costs a process, and a hang costs its time limit.
func maxTries(k harness.Kind) int {
	switch k {
	case harness.KindError, harness.KindPanic:
		return 20_000
	case harness.KindFatal, harness.KindMemory:
		return 40
	case harness.KindHang:
		return 8
	}
	return 0
}

// maxSequenceTries is maxTries for sequences, each of which costs a process.
func maxSequenceTries(k harness.Kind) int { return min(200, maxTries(k)) }

// smallest returns the smallest sequence that shows the failure of whole in a new process: the
// input alone, or after some of the inputs before it. If there is none, unexplained is the
// reason.
func (c *Campaign) smallest(ctx context.Context, t Target, whole inputSequence, want *harness.Failure) (small inputSequence, unexplained string, err error) {
	alone, err := c.shrink(ctx, t, whole.input, want)
	if err != nil {
		return whole, "", err
	}
	reason := "it passes alone"
	for _, candidate := range [][]byte{alone, whole.input} {
		switch again, err := c.failure(ctx, t, candidate); {
		case err != nil:
			return whole, "", err
		case again == nil:
		case again.Bucket == want.Bucket:
			return inputSequence{input: candidate}, "", nil
		default:
			reason = "alone it fails as " + again.Bucket
		}
	}
	if len(whole.before) == 0 {
		return whole, reason + ", and the inputs before it are unknown", nil
	}
	small, ok, err := c.smallestSequence(ctx, t, whole, want)
	if err != nil || ok {
		return small, "", err
	}
	return inputSequence{input: whole.input}, fmt.Sprintf("%s, and differently after the last %d inputs before it", reason, len(whole.before)), nil
}

// shrink returns the smallest input that shows the failure of input.
func (c *Campaign) shrink(ctx context.Context, t Target, input []byte, want *harness.Failure) ([]byte, error) {
	switch want.Kind {
	case harness.KindLost:
		return input, nil
	case harness.KindError, harness.KindPanic:
		end, err := c.run(ctx, t, harness.Job{Kind: harness.JobShrink, Inputs: [][]byte{input}, Tries: maxTries(want.Kind)})
		if err != nil || len(end.results) == 0 {
			return input, err // needs more than the input, or a smaller one ends the process
		}
		return end.results[0].Input, nil
	}
	var fault error
	small := harness.Shrink(input, maxTries(want.Kind), func(candidate []byte) bool {
		again, err := c.failure(ctx, t, candidate)
		fault = errors.Join(fault, err)
		return fault == nil && again != nil && again.Bucket == want.Bucket
	})
	return small, fault
}

// failureAfter returns the failure of the last input of s in a process that ran the others
// before it. It returns nil if the input passes, or if another input ended the process.
func (c *Campaign) failureAfter(ctx context.Context, t Target, s inputSequence) (*harness.Failure, error) {
	end, err := c.run(ctx, t, harness.Job{Kind: harness.JobObserve, Inputs: append(slices.Clip(s.before), s.input)})
	if err != nil {
		return nil, err
	}
	switch len(end.results) {
	case len(s.before) + 1:
		return end.results[len(s.before)].Failure, nil
	case len(s.before):
		if len(end.interrupted) == 1 {
			return harness.DeathFailure(end.interrupted[0].Crash, end.output), nil
		}
	}
	return nil, nil
}

// smallestSequence minimizes whole to a sequence with the failure want. If whole does not fail,
// ok is false.
func (c *Campaign) smallestSequence(ctx context.Context, t Target, whole inputSequence, want *harness.Failure) (small inputSequence, ok bool, err error) {
	fails := func(s inputSequence) bool {
		if err != nil {
			return false
		}
		var again *harness.Failure
		again, err = c.failureAfter(ctx, t, s)
		return err == nil && again != nil && again.Bucket == want.Bucket
	}
	first, ok := shortestEnd(whole, fails)
	if !ok || err != nil {
		return whole, false, err
	}
	end := c.config.Now().Add(shrinkTime)
	small = shrinkSequence(first, maxSequenceTries(want.Kind), func(s inputSequence) bool { return c.config.Now().Before(end) && fails(s) })
	if err == nil && !fails(small) { // it failed by chance: the longer sequence is more reliable
		small = first
	}
	return small, err == nil, err
}

// shortestEnd returns a failing sequence made of the last inputs of whole. Its length is within
// a factor of four of the minimum.
func shortestEnd(whole inputSequence, fails func(inputSequence) bool) (inputSequence, bool) {
	for n := 1; ; n *= 4 {
		from := max(0, len(whole.before)-n)
		if s := (inputSequence{whole.before[from:], whole.input}); fails(s) {
			return s, true
		}
		if from == 0 {
			return whole, false
		}
	}
}

// shrinkSequence removes inputs, and then minimizes the remaining ones, the last one first.
func shrinkSequence(s inputSequence, tries int, fails func(inputSequence) bool) inputSequence {
	s.before = harness.ShrinkList(s.before, tries, func(before [][]byte) bool { return fails(inputSequence{before, s.input}) })
	s.input = harness.Shrink(s.input, tries, func(input []byte) bool { return fails(inputSequence{s.before, input}) })
	s.before = slices.Clone(s.before)
	for i := len(s.before) - 1; i >= 0; i-- {
		s.before[i] = harness.Shrink(s.before[i], tries/len(s.before), func(input []byte) bool {
			before := slices.Clone(s.before)
			before[i] = input
			return fails(inputSequence{before, s.input})
		})
	}
	return s
}
