package timing

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// signTest returns the two-sided p-value of the sign test: the probability that
// as many fair coins fall as unevenly as the signs of d. Zeros do not count.
func signTest(d []float64) float64 {
	positive, negative := 0, 0
	for _, v := range d {
		switch {
		case v > 0:
			positive++
		case v < 0:
			negative++
		}
	}
	if positive+negative == 0 {
		return 1
	}
	coins := distuv.Binomial{N: float64(positive + negative), P: 0.5}
	return min(1, 2*coins.CDF(float64(min(positive, negative))))
}

// wilcoxon returns the two-sided p-value of the Wilcoxon signed-rank test in its
// normal approximation, corrected for ties. Zeros do not count.
func wilcoxon(d []float64) float64 {
	x := slices.DeleteFunc(slices.Clone(d), func(v float64) bool { return v == 0 })
	slices.SortFunc(x, func(v, w float64) int { return cmp.Compare(math.Abs(v), math.Abs(w)) })
	n := float64(len(x))
	positive, ties := 0.0, 0.0
	for start := 0; start < len(x); {
		end := start + 1
		for end < len(x) && math.Abs(x[end]) == math.Abs(x[start]) {
			end++
		}
		rank := float64(start+end+1) / 2
		for _, v := range x[start:end] {
			if v > 0 {
				positive += rank
			}
		}
		t := float64(end - start)
		ties += t * (t*t - 1)
		start = end
	}
	variance := n*(n+1)*(2*n+1)/24 - ties/48
	if variance <= 0 {
		return 1
	}
	return twoSided((positive - n*(n+1)/4) / math.Sqrt(variance))
}

// twoSided returns the probability that a standard normal variable is at least
// as far from zero as z.
func twoSided(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }
