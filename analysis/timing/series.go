package timing

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"sealab/internal/runfile"
)

// Statistics are the numbers of one file of samples. Times are in nanoseconds
// per operation; differences are B - A.
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

// clockSigma is the standard deviation of the difference of two times that are
// each rounded to a multiple of the clock's step, in such steps.
const clockSigma = 0.41

// measure computes the statistics of a file.
func measure(f *runfile.Samples) *Statistics {
	s := newSeries(f)
	dep := dependenceOf(s.d)
	r := &Statistics{
		Header: f.Header, Values: len(s.d), Typical: median(s.a), Slot: s.slot,
		Sigma: max(robustSigma(s.d), clockSigma*s.tick), Length: dep.length, Effective: dep.effective,
		PSign: signTest(s.d), PWilcoxon: wilcoxon(s.d),
		DudectT: dudectT(s.a, s.b),
	}
	r.Median, r.Trimmed = location(s.d, dep)
	r.Deciles = compareDeciles(s, max(f.Cluster, dep.length))
	return r
}

// deviation returns the standard error of the effect.
func (s *Statistics) deviation() float64 { return s.Sigma / math.Sqrt(s.Effective) }

// A series is the input of the statistics of one file. All times are in
// nanoseconds per operation.
type series struct {
	a, b []float64
	// d are the differences b - a without the effect of the place in the block,
	// one per block. If blocks share keys, there is one per cluster.
	d    []float64
	slot float64 // the effect of the place: second minus first
	tick float64 // the step in which the clock counts
}

func newSeries(f *runfile.Samples) series {
	ops := float64(f.Ops)
	n := len(f.Data)
	s := series{a: make([]float64, n), b: make([]float64, n), d: make([]float64, n)}
	later := make([]float64, n)
	for i, block := range f.Data {
		s.a[i], s.b[i] = float64(block.A)/ops, float64(block.B)/ops
		later[i] = (s.b[i] - s.a[i]) * direction(block)
	}
	s.slot, s.tick = trimmedMean(later), tick(s.a, s.b)
	for i, block := range f.Data {
		s.d[i] = direction(block) * (later[i] - s.slot)
	}
	if f.Cluster > 0 {
		s.d = clusterMedians(s.d, f.Cluster)
	}
	return s
}

// trimmedMean returns the mean of x without its lowest and highest tenth.
func trimmedMean(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	cut := int(trim * float64(len(sorted)))
	return stat.Mean(sorted[cut:len(sorted)-cut], nil)
}

// tick returns the smallest difference between two times: clocks count in steps
// of one nanosecond or of more.
func tick(a, b []float64) float64 {
	sorted := slices.Sorted(slices.Values(slices.Concat(a, b)))
	step := math.Inf(1)
	for i := 1; i < len(sorted); i++ {
		if gap := sorted[i] - sorted[i-1]; gap > rounding {
			step = min(step, gap)
		}
	}
	if math.IsInf(step, 1) {
		return 0
	}
	return step
}

// rounding is the largest difference of two equal times after division.
const rounding = 1e-6

// direction is 1 if B was measured second, else -1.
func direction(b runfile.Block) float64 {
	if b.BFirst {
		return -1
	}
	return 1
}

// clusterMedians returns the median of each run of size values. Blocks of a
// cluster share their objects in memory, such as keys, which makes their
// differences alike: the cluster is the unit that counts.
func clusterMedians(d []float64, size int) []float64 {
	medians := make([]float64, 0, len(d)/size+1)
	for cluster := range slices.Chunk(d, size) {
		medians = append(medians, median(cluster))
	}
	return medians
}

// median returns the median of x, which it leaves as it is. It is not a quantile
// of gonum/stat, which lies half a rank too low: a slow design has clusters of two.
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
	// maxLag bounds the lags at which a correlation is looked for.
	maxLag = 1000
	// quietLags is the number of lags in a row without correlation that end it
	// (Politis and White, Automatic Block-Length Selection, 2004, section 3).
	quietLags = 5
	// minBootstrapBlocks keeps enough blocks to draw from, whatever the
	// correlation.
	minBootstrapBlocks = 50
)

// A dependence says how far the values of a series depend on those before.
type dependence struct {
	length    int     // of a bootstrap block
	effective float64 // number of independent values that are worth as much
}

// dependenceOf reads the dependence of x off its autocorrelation. Values beyond
// three sigma are pulled in before, since one interrupt would hide everything.
func dependenceOf(x []float64) dependence {
	n := len(x)
	z := winsorised(x)
	variance := product(z, 0)
	if variance == 0 {
		return dependence{1, float64(n)}
	}
	threshold := 2 * math.Sqrt(math.Log10(float64(n))/float64(n))
	last, sum := 0, 0.0
	inflation := 1.0
	for lag := 1; lag <= min(maxLag, n/4) && lag-last <= quietLags; lag++ {
		rho := product(z, lag) / variance
		sum += rho
		if math.Abs(rho) > threshold {
			last, inflation = lag, 1+2*sum
		}
	}
	length := max(1, min(2*last, n/minBootstrapBlocks))
	return dependence{length, float64(n) / max(inflation, 1)}
}

// product returns the mean product of values that lie lag apart.
func product(z []float64, lag int) float64 {
	sum := 0.0
	for i := lag; i < len(z); i++ {
		sum += z[i] * z[i-lag]
	}
	return sum / float64(len(z))
}

// winsorised returns x around its median, with values beyond three sigma moved to
// three sigma.
func winsorised(x []float64) []float64 {
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
