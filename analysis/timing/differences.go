package timing

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"sealab/internal/samples"
)

// A series is what the statistics of one file are made of. All times are in
// nanoseconds per operation.
type series struct {
	a, b []float64
	// d are the differences b - a without what the place in the block makes of
	// them, one per block; where blocks share keys, one per cluster.
	d    []float64
	slot float64 // what was taken off: second minus first
	tick float64 // the step in which the clock counts
}

func newSeries(f *samples.File) series {
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

// rounding is what two equal times may differ by after division.
const rounding = 1e-6

// direction is 1 where B was measured second, else -1.
func direction(b samples.Block) float64 {
	if b.BFirst {
		return -1
	}
	return 1
}

// clusterMedians returns the median of each run of size values. What is shared
// inside a cluster, such as where its keys lie in memory, makes its differences
// alike, so that the cluster is the unit that counts.
func clusterMedians(d []float64, size int) []float64 {
	medians := make([]float64, 0, len(d)/size+1)
	for cluster := range slices.Chunk(d, size) {
		medians = append(medians, median(cluster))
	}
	return medians
}

// median returns the median of x, which it leaves as it is.
func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return stat.Quantile(0.5, stat.LinInterp, sorted, nil)
}

// robustSigma returns 1.4826 times the median absolute deviation of x: the
// standard deviation where x is normal.
func robustSigma(x []float64) float64 {
	m := median(x)
	deviations := make([]float64, len(x))
	for i, v := range x {
		deviations[i] = math.Abs(v - m)
	}
	return 1.4826 * median(deviations)
}
