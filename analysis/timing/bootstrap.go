package timing

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

const (
	resamples = 500
	// maxDrawn is the largest number of blocks that are drawn from: more make a
	// resample dearer and no better.
	maxDrawn = 2000
	trim     = 0.10 // share of the values cut off at each end of a trimmed mean
)

// An Estimate is a value with its interval, in nanoseconds per operation.
type Estimate struct {
	Value float64 `json:"ns"`
	Low   float64 `json:"low_ns"`
	High  float64 `json:"high_ns"`
}

// excludesZero reports whether the interval lies on one side of zero.
func (e Estimate) excludesZero() bool { return e.Low > 0 || e.High < 0 }

// within reports whether the whole interval lies inside -limit and limit.
func (e Estimate) within(limit float64) bool { return e.Low >= -limit && e.High <= limit }

// ordered are the values of a series, sorted, each with the bootstrap block
// that it came from. Drawing blocks anew then changes how often a value counts
// and never the order, so that every resample is one walk.
type ordered struct {
	value []float64
	block []int32
	size  []int32 // of each block
}

func order(x []float64, blockLength int) ordered {
	index := make([]int32, len(x))
	for i := range index {
		index[i] = int32(i)
	}
	slices.SortFunc(index, func(i, j int32) int { return cmp.Compare(x[i], x[j]) })
	o := ordered{make([]float64, len(x)), make([]int32, len(x)), make([]int32, (len(x)+blockLength-1)/blockLength)}
	for k, i := range index {
		o.value[k], o.block[k] = x[i], i/int32(blockLength)
		o.size[o.block[k]]++
	}
	return o
}

// total returns the number of values, each counted as often as its block.
func (o ordered) total(weight []int32) float64 {
	sum := int32(0)
	for b, size := range o.size {
		sum += weight[b] * size
	}
	return float64(sum)
}

// quantiles writes to out the values at the given shares, in rising order, of
// all values.
func (o ordered) quantiles(weight []int32, shares, out []float64) {
	total, below, next := o.total(weight), 0.0, 0
	for k, b := range o.block {
		below += float64(weight[b])
		for next < len(shares) && below > shares[next]*total {
			out[next] = o.value[k]
			next++
		}
		if next == len(shares) {
			return
		}
	}
}

// trimmedMean returns the mean of the values without the lowest and the highest
// share trim of them.
func (o ordered) trimmedMean(weight []int32) float64 {
	total := o.total(weight)
	low, high := trim*total, (1-trim)*total
	below, sum := 0.0, 0.0
	for k, b := range o.block {
		next := below + float64(weight[b])
		sum += o.value[k] * max(0, min(next, high)-max(below, low))
		below = next
	}
	return sum / (high - low)
}

// A lottery draws blocks with replacement.
type lottery struct {
	random *rand.Rand
	weight []int32
}

func newLottery(values, blockLength int) *lottery {
	blocks := (values + blockLength - 1) / blockLength
	return &lottery{rand.New(rand.NewPCG(uint64(values), uint64(blockLength))), make([]int32, blocks)}
}

// once returns the weights that count every block once.
func (l *lottery) once() []int32 {
	for i := range l.weight {
		l.weight[i] = 1
	}
	return l.weight
}

// draw returns the weights of a new resample, until the next call.
func (l *lottery) draw() []int32 {
	clear(l.weight)
	for range l.weight {
		l.weight[l.random.IntN(len(l.weight))]++
	}
	return l.weight
}

// drawnLength returns the length of the blocks that are drawn from n values: at
// least what the dependence asks for, and not more blocks than maxDrawn.
func drawnLength(n, dependence int) int { return max(dependence, (n+maxDrawn-1)/maxDrawn) }

// location returns the median and the trimmed mean of d.
func location(d []float64, dep dependence) (middle, trimmed Estimate) {
	length := drawnLength(len(d), dep.length)
	o, l := order(d, length), newLottery(len(d), length)
	half := []float64{0.5}
	m := make([]float64, 1)
	trimmed.Value = o.trimmedMean(l.once())
	middle.Value = median(d)
	medians, means := make([]float64, resamples), make([]float64, resamples)
	for i := range resamples {
		weight := l.draw()
		o.quantiles(weight, half, m)
		medians[i], means[i] = m[0], o.trimmedMean(weight)
	}
	middle.Low, middle.High = interval(medians)
	trimmed.Low, trimmed.High = interval(means)
	return middle, trimmed
}

// interval returns the ends of the interval that holds the share Confidence of
// the values, which it sorts.
func interval(values []float64) (low, high float64) {
	slices.Sort(values)
	const outside = (1 - Confidence) / 2
	return stat.Quantile(outside, stat.LinInterp, values, nil), stat.Quantile(1-outside, stat.LinInterp, values, nil)
}
