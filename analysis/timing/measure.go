package timing

import (
	"math"

	"sealab/internal/samples"
)

// Statistics are the numbers of one file of samples. Times are in nanoseconds
// per operation; differences are B - A.
type Statistics struct {
	samples.Header
	Values    int      `json:"values"`     // differences tested: blocks, or clusters
	Typical   float64  `json:"typical_ns"` // median time of an operation
	Slot      float64  `json:"slot_ns"`    // second sample of a block minus first
	Median    Estimate `json:"median"`
	Trimmed   Estimate `json:"trimmed_mean"`
	Deciles   Deciles  `json:"deciles"`
	Sigma     float64  `json:"sigma_ns"`
	Length    int      `json:"block_length"` // of the bootstrap
	Effective float64  `json:"effective_values"`
	Findable  float64  `json:"findable_ns"` // smallest effect that could have been found
	PSign     float64  `json:"p_sign"`      // not corrected
	PWilcoxon float64  `json:"p_wilcoxon"`  // not corrected
	DudectT   float64  `json:"dudect_max_t"`
}

// clockSigma is the standard deviation of the difference of two times that are
// each rounded to a multiple of the clock's step, in such steps.
const clockSigma = 0.41

// Measure computes the statistics of a file.
func Measure(f *samples.File) *Statistics {
	s := newSeries(f)
	dep := dependenceOf(s.d)
	r := &Statistics{
		Header: f.Header, Values: len(s.d), Typical: median(s.a), Slot: s.slot,
		Sigma: max(robustSigma(s.d), clockSigma*s.tick), Length: dep.length, Effective: dep.effective,
		PSign: signTest(s.d), PWilcoxon: wilcoxon(s.d),
		DudectT: dudectT(s.a, s.b),
	}
	r.Findable = findableFactor * r.Sigma / math.Sqrt(r.Effective)
	r.Median, r.Trimmed = location(s.d, dep)
	r.Deciles = compareDeciles(s, max(f.Cluster, dep.length))
	return r
}
