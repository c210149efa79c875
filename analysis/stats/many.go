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

// Holm returns the p-values corrected for their number, in the same order: to
// reject those that are at most alpha rejects a true hypothesis among them with
// a probability of at most alpha (S. Holm, "A simple sequentially rejective
// multiple test procedure", 1979).
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(ps[i], ps[j]) })
	corrected := make([]float64, len(ps))
	largest := 0.0
	for rank, i := range order {
		largest = max(largest, min(1, float64(len(ps)-rank)*ps[i]))
		corrected[i] = largest
	}
	return corrected
}
