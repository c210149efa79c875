package timing

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

var deciles = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

// Deciles compares the nine deciles of A and of B.
type Deciles struct {
	// Difference are the deciles of B minus those of A, from 10 % to 90 %.
	Difference []Estimate `json:"difference"`
	// Largest is the index in Difference of the one with the largest difference
	// in proportion to its standard error.
	Largest int     `json:"largest"`
	P       float64 `json:"p"` // of that largest one, as the largest of nine
}

// largest returns the difference that the test is about.
func (d Deciles) largest() Estimate { return d.Difference[d.Largest] }

// compareDeciles draws whole blocks, of A and B together, so that what both
// have in common cancels out.
func compareDeciles(s series, length int) Deciles {
	length = drawnLength(len(s.a), length)
	l := newLottery(len(s.a), length)
	of := decileComparison{order(s.a, length), order(s.b, length), make([]float64, len(deciles)), make([]float64, len(deciles))}
	observed := of.difference(l.once(), make([]float64, len(deciles)))
	drawn := make([][]float64, len(deciles))
	for range resamples {
		for k, v := range of.difference(l.draw(), make([]float64, len(deciles))) {
			drawn[k] = append(drawn[k], v)
		}
	}
	return judgeDeciles(observed, drawn, s.tick)
}

type decileComparison struct {
	a, b   ordered
	qa, qb []float64
}

// difference writes the differences of the deciles under weight to out.
func (c decileComparison) difference(weight []int32, out []float64) []float64 {
	c.a.quantiles(weight, deciles, c.qa)
	c.b.quantiles(weight, deciles, c.qb)
	for k := range out {
		out[k] = c.qb[k] - c.qa[k]
	}
	return out
}

// judgeDeciles sets the largest standardised difference against the largest ones
// that resampling alone brings about. A clock that counts in steps can make all
// resamples alike; half a step is the least error that a decile has.
func judgeDeciles(observed []float64, drawn [][]float64, tick float64) Deciles {
	d := Deciles{Difference: make([]Estimate, len(observed))}
	deviation := make([]float64, len(observed)) // standard errors of the differences
	statistic := 0.0
	for k, v := range observed {
		deviation[k] = max(stat.StdDev(drawn[k], nil), tick/2, rounding)
		if z := math.Abs(v) / deviation[k]; z > statistic {
			statistic, d.Largest = z, k
		}
	}
	exceeding := 0
	for i := range drawn[0] {
		largest := 0.0
		for k := range observed {
			largest = max(largest, math.Abs(drawn[k][i]-observed[k])/deviation[k])
		}
		if largest >= statistic {
			exceeding++
		}
	}
	d.P = maximumP(statistic, exceeding, len(observed))
	for k, v := range observed {
		d.Difference[k].Value = v
		d.Difference[k].Low, d.Difference[k].High = interval(drawn[k])
	}
	return d
}

// maximumP returns the p-value of the largest of n standardised differences.
// Beyond the reach of the resamples it is the normal bound for n tests, which
// is too large rather than too small for correlated ones.
func maximumP(statistic float64, exceeding, n int) float64 {
	if exceeding > 0 {
		return float64(exceeding+1) / (resamples + 1)
	}
	return min(1./(resamples+1), float64(n)*twoSided(statistic))
}
