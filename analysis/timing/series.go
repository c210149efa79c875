package timing

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"sealab/internal/runfile"
)

// Statistics holds the results for one file of samples. Times are in nanoseconds per operation;
// differences are B - A.
type Statistics struct {
	runfile.Header
	Values    int      `json:"values"`     // differences tested: blocks, or clusters
	Typical   float64  `json:"typical_ns"` // median time of an operation
	Slot      float64  `json:"slot_ns"`    // second sample of a block minus first
	Median    Estimate `json:"median"`
	Trimmed   Estimate `json:"trimmed_mean"`
	Deciles   Deciles  `json:"deciles"`
	Sigma     float64  `json:"sigma_ns"`     // 1.4826 MAD of the differences
	Length    int      `json:"block_length"` // of the bootstrap
	Effective float64  `json:"effective_values"`
	PSign     float64  `json:"p_sign"`     // not corrected
	PWilcoxon float64  `json:"p_wilcoxon"` // not corrected
	DudectT   float64  `json:"dudect_max_t"`
}

// clockSigma is the standard deviation, in clock steps, of the difference of two times that are each
// rounded to a step.
const clockSigma = 0.41

// measureFile computes the statistics of a file.
func measureFile(f *runfile.Samples) *Statistics {
	s := newSeries(f)
	dep := dependenceOf(s.d)
	r := &Statistics{
		Header: f.Header, Values: len(s.d), Typical: median(s.a), Slot: s.slot,
		Sigma: max(robustSigma(s.d), clockSigma*s.tick), Length: dep.length, Effective: dep.effective,
		PSign: signTest(s.d), PWilcoxon: wilcoxonP(s.d),
		DudectT: dudectT(s.a, s.b),
	}
	r.Median, r.Trimmed = locationEstimates(s.d, dep)
	r.Deciles = compareDeciles(s, max(f.Cluster, dep.length))
	return r
}

// deviation returns the standard error of the effect.
func (s *Statistics) deviation() float64 { return s.Sigma / math.Sqrt(s.Effective) }

// A series is the input of the statistics of one file. All times are in
// nanoseconds per operation.
type series struct {
	a, b []float64
	// d holds the differences b - a, corrected for the order within the block: one per block, or one per
	// cluster if blocks share keys.
	d    []float64
	slot float64 // effect of the order: second minus first
	tick float64 // step of the clock
}

func newSeries(f *runfile.Samples) series {
	ops := float64(f.Ops)
	n := len(f.Data)
	s := series{a: make([]float64, n), b: make([]float64, n), d: make([]float64, n)}
	later := make([]float64, n)
	for i, block := range f.Data {
		s.a[i], s.b[i] = float64(block.A)/ops, float64(block.B)/ops
		later[i] = (s.b[i] - s.a[i]) * orderSign(block)
	}
	s.slot, s.tick = trimmedMean(later), clockStep(s.a, s.b)
	for i, block := range f.Data {
		s.d[i] = orderSign(block) * (later[i] - s.slot)
	}
	if f.Cluster > 0 {
		s.d = clusterMedians(s.d, f.Cluster)
	}
	return s
}

// trimmedMean returns the mean of x without its lowest and highest tenth.
func trimmedMean(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	cut := int(trimShare * float64(len(sorted)))
	return stat.Mean(sorted[cut:len(sorted)-cut], nil)
}

// clockStep returns the smallest difference between two times, which is the clock's step of one nanosecond
// or more.
func clockStep(a, b []float64) float64 {
	sorted := slices.Sorted(slices.Values(slices.Concat(a, b)))
	step := math.Inf(1)
	for i := 1; i < len(sorted); i++ {
		if gap := sorted[i] - sorted[i-1]; gap > equalTimesTolerance {
			step = min(step, gap)
		}
	}
	if math.IsInf(step, 1) {
		return 0
	}
	return step
}

// equalTimesTolerance is the largest difference between equal times after division.
const equalTimesTolerance = 1e-6

// orderSign returns 1 if B was measured second, otherwise -1.
func orderSign(b runfile.Block) float64 {
	if b.BFirst {
		return -1
	}
	return 1
}

// clusterMedians returns the median of each chunk of size values. The blocks of a cluster share objects in
// memory, such as keys, so their differences are alike and the cluster counts as one value.
func clusterMedians(d []float64, size int) []float64 {
	medians := make([]float64, 0, len(d)/size+1)
	for cluster := range slices.Chunk(d, size) {
		medians = append(medians, median(cluster))
	}
	return medians
}

// median returns the median of x without modifying x. The quantiles of gonum/stat are half a rank too low,
// which matters for clusters of two blocks, as slow designs have.
func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// robustSigma returns 1.4826 times the median absolute deviation of x, which is
// the standard deviation if x is normal.
func robustSigma(x []float64) float64 {
	m := median(x)
	deviations := make([]float64, len(x))
	for i, v := range x {
		deviations[i] = math.Abs(v - m)
	}
	return 1.4826 * median(deviations)
}

const (
	// maxLag is the largest lag at which correlation is examined.
	maxLag = 1000
	// quietLags is the number of consecutive lags without correlation that ends the search (Politis and
	// White, Automatic Block-Length Selection, 2004, section 3).
	quietLags = 5
	// minBootstrapBlocks is the minimum number of blocks to draw from, whatever the correlation.
	minBootstrapBlocks = 50
)

// A dependence describes how far the values of a series depend on earlier ones.
type dependence struct {
	length    int     // of a bootstrap block
	effective float64 // equivalent number of independent values
}

// dependenceOf estimates the dependence of x from its autocorrelation. It first winsorizes values beyond
// three sigma, because one interrupt would hide the correlation.
func dependenceOf(x []float64) dependence {
	n := len(x)
	z := winsorize(x)
	variance := laggedProduct(z, 0)
	if variance == 0 {
		return dependence{1, float64(n)}
	}
	threshold := 2 * math.Sqrt(math.Log10(float64(n))/float64(n))
	last, sum := 0, 0.0
	inflation := 1.0
	for lag := 1; lag <= min(maxLag, n/4) && lag-last <= quietLags; lag++ {
		rho := laggedProduct(z, lag) / variance
		sum += rho
		if math.Abs(rho) > threshold {
			last, inflation = lag, 1+2*sum
		}
	}
	length := max(1, min(2*last, n/minBootstrapBlocks))
	return dependence{length, float64(n) / max(inflation, 1)}
}

// laggedProduct returns the mean product of values at distance lag.
func laggedProduct(z []float64, lag int) float64 {
	sum := 0.0
	for i := lag; i < len(z); i++ {
		sum += z[i] * z[i-lag]
	}
	return sum / float64(len(z))
}

// winsorize returns x with values beyond three sigma of its median moved to three sigma, less the mean.
func winsorize(x []float64) []float64 {
	m, reach := median(x), 3*robustSigma(x)
	z := make([]float64, len(x))
	mean := 0.0
	for i, v := range x {
		z[i] = max(-reach, min(reach, v-m))
		mean += z[i] / float64(len(x))
	}
	for i := range z {
		z[i] -= mean
	}
	return z
}
