// Package stats provides the statistics that the analyses share: the ratio of two times with its interval,
// and corrections for multiple comparisons.
//
// Two cells of the same run are compared round by round, so that an effect on a whole round cancels out.
// The logarithms of the ratios are averaged after the most extreme fifth on either side is trimmed. The
// interval is Yuen's for trimmed means (K. K. Yuen, "The two-sample trimmed t for unequal population
// variances", Biometrika 61, 1974, in its paired form). An interrupted round hardly moves either.
//
// To distinguish a difference from the machine's noise, compare it with a subject that was measured twice.
package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// An Interval is an estimate with its confidence interval.
type Interval struct{ Point, Lo, Hi float64 }

// Excludes reports whether x lies outside the interval.
func (i Interval) Excludes(x float64) bool { return x < i.Lo || x > i.Hi }

// trimmed is the share of the rounds that is trimmed on either side.
const trimmed = 0.2

// minRounds is the smallest number of rounds with a finite interval.
const minRounds = 3

// Ratio returns the ratio of a to b with an interval at the given confidence (0.95 for 95 %). a[i] and
// b[i] must come from round i, and values must be positive. With fewer than minRounds rounds, the interval
// is infinite.
func Ratio(a, b []float64, confidence float64) (Interval, error) {
	if len(a) != len(b) || len(a) == 0 {
		return Interval{}, fmt.Errorf("%d rounds cannot be paired with %d", len(a), len(b))
	}
	logs := make([]float64, len(a))
	for i := range a {
		if a[i] <= 0 || b[i] <= 0 {
			return Interval{}, fmt.Errorf("round %d took %v and %v, want positive times", i+1, a[i], b[i])
		}
		logs[i] = math.Log(a[i] / b[i])
	}
	mid, half := trimmedMean(logs, confidence)
	return Interval{math.Exp(mid), math.Exp(mid - half), math.Exp(mid + half)}, nil
}

// trimmedMean returns the trimmed mean of xs and half the width of its
// confidence interval. It sorts xs.
func trimmedMean(xs []float64, confidence float64) (mid, half float64) {
	slices.Sort(xs)
	n := len(xs)
	g := int(trimmed * float64(n))
	mid = stat.Mean(xs[g:n-g], nil)
	if n < minRounds {
		return mid, math.Inf(1)
	}
	for i := range g { // winsorize: the trimmed values become the nearest kept one
		xs[i], xs[n-1-i] = xs[g], xs[n-1-g]
	}
	kept := float64(n - 2*g)
	sum := stat.Variance(xs, nil) * float64(n-1) // of the squared deviations
	return mid, distuv.StudentsT{Sigma: 1, Nu: kept - 1}.Quantile(1-(1-confidence)/2) * math.Sqrt(sum/(kept*(kept-1)))
}

// Joint returns the confidence that each of n intervals must have so that all
// of them hold together at the given confidence (Bonferroni's inequality).
func Joint(confidence float64, n int) float64 { return 1 - (1-confidence)/float64(max(1, n)) }

// Holm returns the p-values adjusted for their number, in the same order. If the hypotheses with adjusted
// values of at most alpha are rejected, the probability of rejecting any true one is at most alpha (S.
// Holm, "A simple sequentially rejective multiple test procedure", 1979).
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
