package timing

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// DetectableAtMost is the largest acceptable minimum detectable effect, in limits.
//
// The smallest leak that allows forgery is a comparison that ends at the first wrong byte. It leaks 0.3 to
// 0.8 ns per byte. Its control, with 31 bytes, leaks 9 to 25 ns and must be found in every run. An
// unchecked tag, a padding oracle or an early parse error leaks tens to thousands of nanoseconds. At the
// library's limit of 1 ns, a run that cannot detect 10 ns is void, because it could miss such a
// comparison.
const DetectableAtMost = 10

// A Shift describes the shift between passes: a difference that affects all blocks of a pass alike and is
// not a leak. Blocks within a pass do not show it, and more blocks do not reduce it. It comes from the
// state of predictors and caches and from the addresses of code and objects.
//
// The shift is estimated from the ladder, whose classes run different code with a known delay. A residual
// is the effect of one pass at one rung minus the delay. Only rungs up to DetectableAtMost limits count,
// because residuals of larger delays mostly reflect the clock rate. Pairs whose classes run the same
// instructions shift less.
//
// The scale is an order statistic of the absolute residuals: the smallest one that, with probability at
// least 0.95, is not below the median of their distribution. Divided by 0.6745, it is an upper bound of
// the standard deviation of normal shifts. Its confidence holds for any distribution. Of twelve residuals
// it is the tenth, so two outliers do not raise it. If one rung is missed, the run should be void, rather
// than the estimate larger.
type Shift struct {
	Values     int     `json:"values"`        // number of residuals; 0 if no control is calibrated
	Confidence float64 `json:"confidence"`    // that the shift is at most Sigma; below 0.95 if there are too few residuals
	Sigma      float64 `json:"sigma_ns"`      // upper bound of the standard deviation
	Floor      float64 `json:"floor_ns"`      // differences up to the floor do not count
	Detectable float64 `json:"detectable_ns"` // median minimum detectable effect of the residuals' rungs
}

// passPower is the quantile of the normal distribution at the power of one pass such that two passes have
// a power of 0.9.
var passPower = distuv.UnitNormal.Quantile(math.Sqrt(0.9))

// shift estimates the shift between passes from the ladder.
//
// The floor is chosen so that shifts alone exceed it in both passes, on the same side, with probability
// alpha over all N pairs of the run: 2 N Q(floor/sigma)^2 = alpha.
func (j *Judgement) shift() Shift {
	var residuals []float64
	var rungs []*Result
	for _, v := range j.Verdicts {
		if v.Added == 0 || v.Added > 1.1*DetectableAtMost*j.Limit {
			continue // rounding to whole steps may make a delay a little larger than its name
		}
		rungs = append(rungs, v)
		for _, s := range v.passes() {
			residuals = append(residuals, math.Abs(s.Trimmed.Value-v.Added))
		}
	}
	s := Shift{Values: len(residuals)}
	s.Sigma, s.Confidence = scaleBound(residuals)
	beyond := distuv.UnitNormal.Quantile(1 - math.Sqrt(familyAlpha/2/float64(len(j.Verdicts))))
	s.Floor = max(j.Limit, beyond*s.Sigma)
	j.Shift = s
	if len(rungs) > 0 {
		var each []float64
		for _, v := range rungs {
			each = append(each, j.detectable(v))
		}
		s.Detectable = median(each)
	}
	return s
}

// scaleBound returns an upper bound of the standard deviation of values around zero, from their
// magnitudes, and its confidence.
func scaleBound(magnitudes []float64) (sigma, certain float64) {
	if len(magnitudes) == 0 {
		return 0, 0
	}
	below := distuv.Binomial{N: float64(len(magnitudes)), P: 0.5}
	rank := 1
	for rank < len(magnitudes) && below.CDF(float64(rank-1)) < confidenceLevel {
		rank++
	}
	slices.Sort(magnitudes)
	return magnitudes[rank-1] / distuv.UnitNormal.Quantile(0.75), below.CDF(float64(rank - 1))
}

// detectable returns the smallest leak that is refuted with a power of 0.9. In both passes it must exceed
// the floor and remain significant after the correction for all tests, despite noise and shift.
func (j *Judgement) detectable(v *Result) float64 {
	noise := 0.0
	for _, s := range v.passes() {
		noise = max(noise, s.deviation())
	}
	significant := distuv.UnitNormal.Quantile(1 - familyAlpha/2/float64(j.Tests))
	return max(j.Shift.Floor, significant*noise) + passPower*math.Hypot(noise, j.Shift.Sigma)
}

// passes returns the statistics of the measured passes.
func (v *Result) passes() []*Statistics {
	if v.Second == nil {
		return []*Statistics{v.First}
	}
	return []*Statistics{v.First, v.Second}
}
