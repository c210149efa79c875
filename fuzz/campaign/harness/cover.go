package harness

import (
	"container/heap"
	"encoding/json"
	"errors"

	"sealab/fuzz/engine"
)

// selectInputs writes the indexes of a greedy set cover: inputs that together have all features
// that the seeds lack. Failing inputs are always kept.
func (j Job) selectInputs(out *json.Encoder, seeds [][]byte, run func([]byte) (*Failure, error)) error {
	numbers := map[engine.Feature]int32{}
	var base []int32
	for _, seed := range seeds {
		set, _, err := featuresOf(seed, run, numbers)
		if err != nil {
			return err
		}
		base = append(base, set...)
	}
	sets := make([][]int32, len(j.Inputs))
	must := make([]bool, len(j.Inputs))
	for i, input := range j.Inputs {
		var err error
		if sets[i], must[i], err = featuresOf(input, run, numbers); err != nil {
			return err
		}
	}
	if len(numbers) == 0 {
		return errors.New("no coverage: want a program built with -cover")
	}
	covered := make([]bool, len(numbers))
	markCovered(covered, base)
	return out.Encode(Result{Kept: greedyCover(sets, must, covered, j.Inputs), Covered: len(numbers)})
}

// featuresOf runs one input. It returns the numbers of the features, and whether the input
// fails.
func featuresOf(input []byte, run func([]byte) (*Failure, error), numbers map[engine.Feature]int32) (set []int32, fails bool, err error) {
	all, err := engine.Features(func() error {
		failed, err := run(input)
		fails = failed != nil
		return err
	})
	for _, f := range all {
		n, ok := numbers[f]
		if !ok {
			n = int32(len(numbers))
			numbers[f] = n
		}
		set = append(set, n)
	}
	return set, fails, err
}

// greedyCover returns the indexes of inputs that together have every feature not yet covered. It
// takes first those that must be kept, and then repeatedly the input that adds most, or the
// shortest of these.
//
// The gain of an input never grows as others are kept. So an old gain is an upper bound, and
// only the input at the top of the heap must be counted again.
func greedyCover(sets [][]int32, must, covered []bool, inputs [][]byte) []int {
	var kept []int
	var left gains
	for i := range sets {
		if must[i] {
			kept = append(kept, i)
			markCovered(covered, sets[i])
		}
	}
	for i := range sets {
		if adds := countUncovered(sets[i], covered); adds > 0 && !must[i] {
			left = append(left, gain{i, adds, len(inputs[i])})
		}
	}
	heap.Init(&left)
	for len(left) > 0 {
		top := left[0]
		adds := countUncovered(sets[top.index], covered)
		switch {
		case adds == 0:
			heap.Pop(&left)
		case adds < top.adds:
			left[0].adds = adds
			heap.Fix(&left, 0)
		default:
			heap.Pop(&left)
			kept = append(kept, top.index)
			markCovered(covered, sets[top.index])
		}
	}
	return kept
}

func markCovered(covered []bool, set []int32) {
	for _, n := range set {
		covered[n] = true
	}
}

// countUncovered returns the number of features in set that are not covered.
func countUncovered(set []int32, covered []bool) (n int) {
	for _, f := range set {
		if !covered[f] {
			n++
		}
	}
	return n
}

// A gain is an upper bound on the features that an input adds.
type gain struct{ index, adds, size int }

// gains is a heap with the largest gain on top. Among equal gains, the shortest input comes
// first.
type gains []gain

func (g gains) Len() int      { return len(g) }
func (g gains) Swap(i, j int) { g[i], g[j] = g[j], g[i] }
func (g *gains) Push(x any)   { *g = append(*g, x.(gain)) }

func (g gains) Less(i, j int) bool {
	if g[i].adds != g[j].adds {
		return g[i].adds > g[j].adds
	}
	return g[i].size < g[j].size
}

func (g *gains) Pop() any {
	last := len(*g) - 1
	x := (*g)[last]
	*g = (*g)[:last]
	return x
}
