package timing

import (
	"math"
	"slices"

	"sealab/internal/verdict"
)

// uniformFrom is the least number of p-values whose distribution is tested.
const uniformFrom = 20

// Uniformity is the Kolmogorov-Smirnov test that p-values are uniform, as they
// must be where nothing leaks.
type Uniformity struct {
	Values   int     `json:"values"`
	Distance float64 `json:"distance"` // largest distance between the distributions
	P        float64 `json:"p"`        // 1 where there are too few values to test
	Refuted  int     `json:"refuted"`  // of the verdicts, how many took noise for a leak
}

// uniformity tests the Wilcoxon p-values of verdicts on what does not leak.
func uniformity(clean []*Verdict) Uniformity {
	u := Uniformity{P: 1}
	var p []float64
	for _, v := range clean {
		p = append(p, v.First.PWilcoxon)
		if v.Outcome == verdict.Refuted {
			u.Refuted++
		}
	}
	u.Values = len(p)
	if len(p) < uniformFrom {
		return u
	}
	u.Distance = uniformDistance(p)
	u.P = kolmogorov(u.Distance, len(p))
	return u
}

// uniformDistance returns the Kolmogorov-Smirnov distance between p and the
// uniform distribution on [0,1].
func uniformDistance(p []float64) float64 {
	n, distance := float64(len(p)), 0.0
	for i, v := range slices.Sorted(slices.Values(p)) {
		distance = max(distance, float64(i+1)/n-v, v-float64(i)/n)
	}
	return distance
}

// kolmogorov returns the probability of at least that distance, by Kolmogorov's
// series with Stephens' correction for finite n (Stephens, EDF Statistics,
// 1974, table 1A).
func kolmogorov(distance float64, n int) float64 {
	root := math.Sqrt(float64(n))
	x := (root + 0.12 + 0.11/root) * distance
	if x < 0.2 {
		return 1 // the series does not settle there
	}
	sum, sign := 0.0, 1.0
	for k := 1.0; k <= 100; k++ {
		sum += sign * math.Exp(-2*k*k*x*x)
		sign = -sign
	}
	return max(0, min(1, 2*sum))
}
