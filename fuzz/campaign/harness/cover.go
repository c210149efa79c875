package harness

import (
	"encoding/json"
	"fmt"
)

// cover writes which of the inputs to keep: a greedy set cover of the features
// that the seeds, which are always there, do not have. An input that fails is
// always kept.
func (j Job) cover(out *json.Encoder, seeds [][]byte, run func([]byte) (*Verdict, error)) error {
	numbers := map[feature]int32{}
	var base []int32
	for _, seed := range seeds {
		set, _, err := coverOf(seed, run, numbers)
		if err != nil {
			return err
		}
		base = append(base, set...)
	}
	sets := make([][]int32, len(j.Inputs))
	must := make([]bool, len(j.Inputs))
	for i, input := range j.Inputs {
		set, failed, err := coverOf(input, run, numbers)
		if err != nil {
			return err
		}
		sets[i], must[i] = set, failed
	}
	if len(numbers) == 0 {
		return errCounters
	}
	covered := make([]bool, len(numbers))
	mark(covered, base)
	kept := greedy(sets, must, covered, j.Inputs)
	if err := out.Encode(Result{Kept: kept, Covered: len(numbers)}); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	return nil
}

// coverOf returns the numbers of the features of one input, and whether it fails.
func coverOf(input []byte, run func([]byte) (*Verdict, error), numbers map[feature]int32) (set []int32, failed bool, err error) {
	all, err := features(func() error {
		v, err := run(input)
		failed = v != nil
		return err
	})
	if err != nil {
		return nil, false, err
	}
	for _, f := range all {
		n, ok := numbers[f]
		if !ok {
			n = int32(len(numbers))
			numbers[f] = n
		}
		set = append(set, n)
	}
	return set, failed, nil
}
