package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sealab/fuzz/campaign/harness"
	"sealab/internal/atomicfile"
)

// A sequence is inputs that one process runs: the last one fails, and those
// before it leave in memory what it needs for that.
type sequence struct {
	before [][]byte
	input  []byte
}

// shrinkTime is how long a sequence is made smaller. The target waits meanwhile,
// and so does who interrupted the campaign.
const shrinkTime = 20 * time.Second

// sequenceTries returns how many sequences of a crasher of a kind may be run to
// make one smaller. Each costs a process.
func sequenceTries(k harness.Kind) int {
	switch k {
	case harness.KindError, harness.KindPanic:
		return 200
	}
	return tries(k)
}

// verdictAfter returns the verdict on the last input of s in a process that ran
// the others, nil where it holds or where one of the others ended the process.
func (c *Campaign) verdictAfter(ctx context.Context, t Target, s sequence) (*harness.Verdict, error) {
	end, err := c.run(ctx, t, harness.Job{Kind: harness.JobVerdicts, Inputs: append(slices.Clip(s.before), s.input)})
	if err != nil {
		return nil, err
	}
	switch len(end.results) {
	case len(s.before) + 1:
		return end.results[len(s.before)].Verdict, nil
	case len(s.before):
		if len(end.interrupted) == 1 {
			return harness.LastVerdict(end.interrupted[0].LastWords, end.output), nil
		}
	}
	return nil, nil
}

// smallestSequence returns the smallest sequence found whose end fails as v
// says, made of what ran before an input and the input. ok is false where there
// is none.
func (c *Campaign) smallestSequence(ctx context.Context, t Target, whole sequence, v *harness.Verdict) (small sequence, ok bool, err error) {
	fails := func(s sequence) bool {
		if err != nil {
			return false
		}
		var again *harness.Verdict
		again, err = c.verdictAfter(ctx, t, s)
		return err == nil && again != nil && again.Bucket == v.Bucket
	}
	first, ok := shortestEnd(whole, fails)
	if !ok || err != nil {
		return whole, false, err
	}
	end := c.config.Now().Add(shrinkTime)
	small = shrinkSequence(first, sequenceTries(v.Kind), func(s sequence) bool { return c.config.Now().Before(end) && fails(s) })
	if err == nil && !fails(small) { // by chance: the longer one is more likely to last
		small = first
	}
	return small, err == nil, err
}

// shortestEnd returns whole with as few of the last inputs before its own as
// fail with it, to a factor of four.
func shortestEnd(whole sequence, fails func(sequence) bool) (sequence, bool) {
	for n := 1; ; n *= 4 {
		from := max(0, len(whole.before)-n)
		if s := (sequence{whole.before[from:], whole.input}); fails(s) {
			return s, true
		}
		if from == 0 {
			return whole, false
		}
	}
}

// shrinkSequence leaves out inputs that are not needed, then makes the others
// smaller, the last one first.
func shrinkSequence(s sequence, tries int, fails func(sequence) bool) sequence {
	s.before = harness.ShrinkList(s.before, tries, func(before [][]byte) bool { return fails(sequence{before, s.input}) })
	s.input = harness.Shrink(s.input, tries, func(input []byte) bool { return fails(sequence{s.before, input}) })
	s.before = slices.Clone(s.before)
	for i := len(s.before) - 1; i >= 0; i-- {
		s.before[i] = harness.Shrink(s.before[i], tries/len(s.before), func(input []byte) bool {
			before := slices.Clone(s.before)
			before[i] = input
			return fails(sequence{before, s.input})
		})
	}
	return s
}

// readBefore returns what is known to have run before a crasher that the
// harness filed.
func readBefore(dir string) ([][]byte, error) {
	file, err := os.ReadFile(filepath.Join(dir, harness.BeforeFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	before, err := harness.DecodeBefore(file)
	if err != nil {
		return nil, fmt.Errorf("sealab: %s: %w", dir, err)
	}
	return before, nil
}

// writeHistory writes the inputs before the last one to the folder of a crasher,
// called so that their order is that of their names.
func writeHistory(dir string, before [][]byte) error {
	if len(before) == 0 {
		return nil
	}
	history := filepath.Join(dir, historyFolder)
	if err := os.RemoveAll(history); err != nil { // of a supervisor that was killed
		return fmt.Errorf("sealab: %w", err)
	}
	if err := os.Mkdir(history, 0o755); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	for i, input := range before {
		if err := atomicfile.Write(filepath.Join(history, fmt.Sprintf("%06d", i)), input); err != nil {
			return err
		}
	}
	return nil
}
