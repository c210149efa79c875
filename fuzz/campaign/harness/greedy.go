package harness

import "container/heap"

// greedy returns the indexes of inputs that together have every feature that is
// not yet covered: what must be kept first, then again and again the one that
// adds most, the shortest of equals.
//
// What an input adds only shrinks while others are kept. So an old count is an
// upper bound, and only the input at the top is counted again.
func greedy(sets [][]int32, must, covered []bool, inputs [][]byte) []int {
	var kept []int
	var left gains
	for i := range sets {
		if must[i] {
			kept = append(kept, i)
			mark(covered, sets[i])
		}
	}
	for i := range sets {
		if adds := fresh(sets[i], covered); adds > 0 && !must[i] {
			left = append(left, gain{i, adds, len(inputs[i])})
		}
	}
	heap.Init(&left)
	for len(left) > 0 {
		top := left[0]
		adds := fresh(sets[top.index], covered)
		switch {
		case adds == 0:
			heap.Pop(&left)
		case adds < top.adds:
			left[0].adds = adds
			heap.Fix(&left, 0)
		default:
			heap.Pop(&left)
			kept = append(kept, top.index)
			mark(covered, sets[top.index])
		}
	}
	return kept
}

func mark(covered []bool, set []int32) {
	for _, n := range set {
		covered[n] = true
	}
}

// fresh counts the features of set that are not covered.
func fresh(set []int32, covered []bool) (n int) {
	for _, f := range set {
		if !covered[f] {
			n++
		}
	}
	return n
}

// A gain is what one input would add, at most.
type gain struct{ index, adds, size int }

// gains is a heap with the largest gain on top, and of equals the shortest input.
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
