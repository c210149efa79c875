package timing

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// DetectableAtMost is how many limits the minimum detectable effect may have.
//
// The smallest leak that forges tokens is a comparison that ends at the first byte
// that differs, at 0.3 to 0.8 ns for each byte: its control, of 31 bytes, shows 9
// to 25 ns, and must be found in every run. A tag that is not checked, a padding
// oracle or an early parse error costs tens to thousands of nanoseconds.
// With the library's limit of 1 ns a run is void if it cannot see 10 ns: it could
// miss the first of these.
const DetectableAtMost = 10

// A Shift is the shift between passes: a difference of a whole pass, the same in all
// of its blocks, that is not the leak. Blocks inside a pass do not show it, and more
// of them do not reduce it. It comes from the state of predictors and caches and
// from the place of code and objects.
//
// The estimate is from the ladder, whose classes run different code and whose truth
// is known. A residual is the effect of one pass at one rung minus the delay. Only
// rungs up to DetectableAtMost limits count: residuals of larger ones are mostly of
// the clock rate. Pairs whose classes run the same instructions shift less.
//
// The scale is an order statistic of the absolute residuals: the first that is, with
// a probability of at least 0.95, not below the median of their distribution. Over 0.6745 it
// is an upper bound of the standard deviation of normal shifts. It needs no form of
// the distribution for its confidence. Of twelve residuals it is the tenth, so that
// two outliers do not raise it: if one rung does not show, the run must be void
// and not the estimate larger.
type Shift struct {
	Values     int     `json:"values"`        // residuals; 0: no control has a known size
	Confidence float64 `json:"confidence"`    // that the shift is no larger than Sigma; short of 0.95 if there are too few residuals
	Sigma      float64 `json:"sigma_ns"`      // upper bound of the standard deviation
	Floor      float64 `json:"floor_ns"`      // differences up to here do not count
	Detectable float64 `json:"detectable_ns"` // median minimum detectable effect of the residuals' rungs
}

// passPower is the quantile of the normal distribution at the power of one pass, if
// both together have a power of 0.9.
var passPower = distuv.UnitNormal.Quantile(math.Sqrt(0.9))

// shift estimates the shift between passes from the ladder.
//
// Shifts alone bring two passes beyond the floor on the same side with a
// probability of alpha over all pairs of the run: 2 N Q(floor/sigma)^2 = alpha.
func (j *Judgement) shift() Shift {
	var residuals []float64
	var rungs []*Result
	for _, v := range j.Verdicts {
		if v.Added == 0 || v.Added > 1.1*DetectableAtMost*j.Limit {
			continue // the steps of a delay make it a little larger or smaller than its name
		}
		rungs = append(rungs, v)
		for _, s := range v.passes() {
			residuals = append(residuals, math.Abs(s.Trimmed.Value-v.Added))
		}
	}
	s := Shift{Values: len(residuals)}
	s.Sigma, s.Confidence = scaleBound(residuals)
	beyond := distuv.UnitNormal.Quantile(1 - math.Sqrt(alpha/2/float64(len(j.Verdicts))))
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

// scaleBound returns an upper bound of the standard deviation of values around zero,
// from their magnitudes, with its confidence.
func scaleBound(magnitudes []float64) (sigma, certain float64) {
	if len(magnitudes) == 0 {
		return 0, 0
	}
	below := distuv.Binomial{N: float64(len(magnitudes)), P: 0.5}
	rank := 1
	for rank < len(magnitudes) && below.CDF(float64(rank-1)) < confidence {
		rank++
	}
	slices.Sort(magnitudes)
	return magnitudes[rank-1] / distuv.UnitNormal.Quantile(0.75), below.CDF(float64(rank - 1))
}

// detectable returns the smallest leak that is refuted with a power of 0.9: in both
// passes it exceeds the floor, and is significant after the correction for
// all tests, although noise and shift take from it.
func (j *Judgement) detectable(v *Result) float64 {
	noise := 0.0
	for _, s := range v.passes() {
		noise = max(noise, s.deviation())
	}
	significant := distuv.UnitNormal.Quantile(1 - alpha/2/float64(j.Tests))
	return max(j.Shift.Floor, significant*noise) + passPower*math.Hypot(noise, j.Shift.Sigma)
}

// passes returns the statistics of the passes that were measured.
func (v *Result) passes() []*Statistics {
	if v.Second == nil {
		return []*Statistics{v.First}
	}
	return []*Statistics{v.First, v.Second}
}
