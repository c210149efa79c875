package campaign

import (
	"context"
	"errors"
	"fmt"

	"sealab/fuzz/campaign/harness"
)

// tries returns how often a crasher of a kind may be run to make it smaller. One
// that ends its process costs a process each time, and one that hangs its limit.
func tries(k harness.Kind) int {
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

// smallest returns the smallest sequence found that fails as the input of whole
// did, in a process of its own: that input alone, or after some of what ran
// before it. unexplained says why there is none, and is empty where there is one.
func (c *Campaign) smallest(ctx context.Context, t Target, whole sequence, v *harness.Verdict) (small sequence, unexplained string, err error) {
	alone, err := c.shrink(ctx, t, whole.input, v)
	if err != nil {
		return whole, "", err
	}
	apart := "it holds alone"
	for _, candidate := range [][]byte{alone, whole.input} {
		verdicts, err := c.verdicts(ctx, t, [][]byte{candidate})
		if err != nil {
			return whole, "", err
		}
		switch again := verdicts[0]; {
		case again == nil:
		case again.Bucket == v.Bucket:
			return sequence{input: candidate}, "", nil
		default:
			apart = "alone it fails as " + again.Bucket
		}
	}
	if len(whole.before) == 0 {
		return whole, apart + ", and what ran before it is not known", nil
	}
	small, ok, err := c.smallestSequence(ctx, t, whole, v)
	if err != nil || ok {
		return small, "", err
	}
	return sequence{input: whole.input}, fmt.Sprintf("%s, and not as it did after the last %d inputs that ran before it", apart, len(whole.before)), nil
}

// shrink returns the smallest input found that fails as input does.
func (c *Campaign) shrink(ctx context.Context, t Target, input []byte, v *harness.Verdict) ([]byte, error) {
	switch v.Kind {
	case harness.KindLost:
		return input, nil
	case harness.KindError, harness.KindPanic:
		end, err := c.run(ctx, t, harness.Job{Kind: harness.JobShrink, Inputs: [][]byte{input}, Tries: tries(v.Kind)})
		if err != nil || len(end.results) == 0 {
			return input, err // it depends on more than the input, or a smaller one ends the process
		}
		return end.results[0].Input, nil
	}
	var fault error
	small := harness.Shrink(input, tries(v.Kind), func(candidate []byte) bool {
		verdicts, err := c.verdicts(ctx, t, [][]byte{candidate})
		fault = errors.Join(fault, err)
		return fault == nil && verdicts[0] != nil && verdicts[0].Bucket == v.Bucket
	})
	return small, fault
}
