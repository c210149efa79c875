package stats

import (
	"cmp"
	"slices"
)

// Joint returns the confidence that each of n intervals must have so that all
// of them hold together at the given confidence (Bonferroni's inequality).
func Joint(confidence float64, n int) float64 {
	return 1 - (1-confidence)/float64(max(1, n))
}

// Holm returns which of the hypotheses with the given p values are rejected so
// that a true one is among them with a probability of at most alpha (S. Holm, "A
// simple sequentially rejective multiple test procedure", 1979).
func Holm(ps []float64, alpha float64) []bool {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(ps[i], ps[j]) })
	rejected := make([]bool, len(ps))
	for rank, i := range order {
		if ps[i] > alpha/float64(len(ps)-rank) {
			break
		}
		rejected[i] = true
	}
	return rejected
}
