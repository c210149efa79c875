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

// percentiles is the number of cropped tests that dudect makes.
const percentiles = 100

// dudectT returns the largest |t| of dudect's 102 tests (Welch's t-test on the
// raw times, on those below each of 100 percentiles, and on their squared
// distances from the mean of all). dudect calls a program leaky from 4.5 or 10
// on; here it is printed beside the verdict and never the verdict.
func dudectT(a, b []float64) float64 {
	pooled := slices.Sorted(slices.Values(slices.Concat(a, b)))
	largest := math.Abs(welch(a, b))
	sortedA, sortedB := sortedMoments(a), sortedMoments(b)
	for i := range percentiles {
		// dudect crops more finely if times are long.
		share := 1 - math.Pow(0.5, 10*float64(i+1)/percentiles)
		limit := pooled[min(len(pooled)-1, int(share*float64(len(pooled))))]
		t := welchOf(sortedA.below(limit), sortedB.below(limit))
		largest = max(largest, math.Abs(t))
	}
	center := momentsOf(pooled).mean()
	return max(largest, math.Abs(welch(squares(a, center), squares(b, center))))
}

// moments are a sample's size, sum and sum of squares.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(v float64) { m.n++; m.sum += v; m.squares += v * v }

func (m moments) mean() float64 { return m.sum / m.n }

func (m moments) variance() float64 {
	return max(0, (m.squares-m.sum*m.sum/m.n)/(m.n-1))
}

func momentsOf(x []float64) (m moments) {
	for _, v := range x {
		m.add(v)
	}
	return m
}

func welch(a, b []float64) float64 { return welchOf(momentsOf(a), momentsOf(b)) }

// welchOf returns Welch's t, or 0 if a class is too small to have one.
func welchOf(a, b moments) float64 {
	if a.n < 2 || b.n < 2 {
		return 0
	}
	spread := a.variance()/a.n + b.variance()/b.n
	if spread == 0 {
		return 0
	}
	return (b.mean() - a.mean()) / math.Sqrt(spread)
}

// cumulative are values in rising order with the moments of each beginning.
type cumulative struct {
	value []float64
	until []moments
}

func sortedMoments(x []float64) cumulative {
	c := cumulative{slices.Sorted(slices.Values(x)), make([]moments, len(x)+1)}
	for i, v := range c.value {
		c.until[i+1] = c.until[i]
		c.until[i+1].add(v)
	}
	return c
}

// below returns the moments of the values under limit.
func (c cumulative) below(limit float64) moments {
	n, _ := slices.BinarySearch(c.value, limit)
	return c.until[n]
}

func squares(x []float64, center float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = (v - center) * (v - center)
	}
	return y
}
