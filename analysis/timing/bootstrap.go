package timing

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

const (
	bootstrapResamples = 500
	// maxDrawn is the largest number of blocks to draw from. More blocks make a resample slower and no
	// better.
	maxDrawn  = 2000
	trimShare = 0.10 // share of the values trimmed at each end of a trimmed mean
)

// An Estimate is a value with its interval, in nanoseconds per operation.
type Estimate struct {
	Value float64 `json:"ns"`
	Low   float64 `json:"low_ns"`
	High  float64 `json:"high_ns"`
}

// negated returns the estimate of A - B.
func (e Estimate) negated() Estimate { return Estimate{-e.Value, -e.High, -e.Low} }

// within reports whether the whole interval lies between -limit and limit.
func (e Estimate) within(limit float64) bool { return e.Low >= -limit && e.High <= limit }

// orderedSeries holds the sorted values of a series, each with its bootstrap block. Resampling blocks
// changes how often each value counts but not the order, so a resample needs no sorting.
type orderedSeries struct {
	value []float64
	block []int32
	size  []int32 // of each block
}

func orderSeries(x []float64, blockLength int) orderedSeries {
	index := make([]int32, len(x))
	for i := range index {
		index[i] = int32(i)
	}
	slices.SortFunc(index, func(i, j int32) int { return cmp.Compare(x[i], x[j]) })
	o := orderedSeries{make([]float64, len(x)), make([]int32, len(x)), make([]int32, (len(x)+blockLength-1)/blockLength)}
	for k, i := range index {
		o.value[k], o.block[k] = x[i], i/int32(blockLength)
		o.size[o.block[k]]++
	}
	return o
}

// total returns the number of values, each weighted by its block.
func (o orderedSeries) total(weight []int32) float64 {
	sum := int32(0)
	for b, size := range o.size {
		sum += weight[b] * size
	}
	return float64(sum)
}

// quantiles writes to out the weighted quantiles at the given shares, which must ascend.
func (o orderedSeries) quantiles(weight []int32, shares, out []float64) {
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

// trimmedMean returns the mean without the lowest and highest share trimShare of the values.
func (o orderedSeries) trimmedMean(weight []int32) float64 {
	total := o.total(weight)
	low, high := trimShare*total, (1-trimShare)*total
	below, sum := 0.0, 0.0
	for k, b := range o.block {
		next := below + float64(weight[b])
		sum += o.value[k] * max(0, min(next, high)-max(below, low))
		below = next
	}
	return sum / (high - low)
}

// A blockLottery draws blocks with replacement.
type blockLottery struct {
	random *rand.Rand
	weight []int32
}

func newLottery(values, blockLength int) *blockLottery {
	blocks := (values + blockLength - 1) / blockLength
	return &blockLottery{rand.New(rand.NewPCG(uint64(values), uint64(blockLength))), make([]int32, blocks)}
}

// once returns weights that count every block once.
func (l *blockLottery) once() []int32 {
	for i := range l.weight {
		l.weight[i] = 1
	}
	return l.weight
}

// draw returns the weights of a new resample. They are valid until the next call.
func (l *blockLottery) draw() []int32 {
	clear(l.weight)
	for range l.weight {
		l.weight[l.random.IntN(len(l.weight))]++
	}
	return l.weight
}

// drawnLength returns the length of bootstrap blocks for n values. It is at least the length of the
// dependence, and large enough for at most maxDrawn blocks.
func drawnLength(n, dependence int) int { return max(dependence, (n+maxDrawn-1)/maxDrawn) }

// locationEstimates returns the median and the trimmed mean of d.
func locationEstimates(d []float64, dep dependence) (middle, trimmed Estimate) {
	length := drawnLength(len(d), dep.length)
	o, l := orderSeries(d, length), newLottery(len(d), length)
	half := []float64{0.5}
	m := make([]float64, 1)
	trimmed.Value = o.trimmedMean(l.once())
	middle.Value = median(d)
	medians, means := make([]float64, bootstrapResamples), make([]float64, bootstrapResamples)
	for i := range bootstrapResamples {
		weight := l.draw()
		o.quantiles(weight, half, m)
		medians[i], means[i] = m[0], o.trimmedMean(weight)
	}
	middle.Low, middle.High = centralInterval(medians)
	trimmed.Low, trimmed.High = centralInterval(means)
	return middle, trimmed
}

// centralInterval returns the ends of the central interval that contains the share confidenceLevel of the
// values. It sorts values.
func centralInterval(values []float64) (low, high float64) {
	slices.Sort(values)
	const outside = (1 - confidenceLevel) / 2
	return stat.Quantile(outside, stat.LinInterp, values, nil), stat.Quantile(1-outside, stat.LinInterp, values, nil)
}

var decileShares = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

// Deciles compares the nine deciles of A and of B.
type Deciles struct {
	// Difference holds the deciles of B minus those of A, from 10 % to 90 %.
	Difference Estimates `json:"difference"`
	// Largest is the index in Difference of the largest difference relative to its standard error.
	Largest int     `json:"largest"`
	P       float64 `json:"p"` // of that difference, as the largest of nine
}

// largest returns the difference with index Largest.
func (d Deciles) largest() Estimate { return d.Difference[d.Largest] }

// compareDeciles resamples blocks of A and B together, so that common effects cancel out.
func compareDeciles(s series, length int) Deciles {
	length = drawnLength(len(s.a), length)
	l := newLottery(len(s.a), length)
	of := decileComparison{orderSeries(s.a, length), orderSeries(s.b, length), make([]float64, len(decileShares)), make([]float64, len(decileShares))}
	observed := of.difference(l.once(), make([]float64, len(decileShares)))
	drawn := make([][]float64, len(decileShares))
	for range bootstrapResamples {
		for k, v := range of.difference(l.draw(), make([]float64, len(decileShares))) {
			drawn[k] = append(drawn[k], v)
		}
	}
	return judgeDeciles(observed, drawn, s.tick)
}

type decileComparison struct {
	a, b   orderedSeries
	qa, qb []float64
}

// difference writes the weighted differences of the deciles to out.
func (c decileComparison) difference(weight []int32, out []float64) []float64 {
	c.a.quantiles(weight, decileShares, c.qa)
	c.b.quantiles(weight, decileShares, c.qb)
	for k := range out {
		out[k] = c.qb[k] - c.qa[k]
	}
	return out
}

// judgeDeciles compares the largest standardized difference with the largest ones among the resamples. A
// clock with coarse steps can make all resamples equal, so the standard error of a decile is at least half
// a step.
func judgeDeciles(observed []float64, drawn [][]float64, tick float64) Deciles {
	d := Deciles{Difference: make(Estimates, len(observed))}
	deviation := make([]float64, len(observed)) // standard errors of the differences
	statistic := 0.0
	for k, v := range observed {
		deviation[k] = max(stat.StdDev(drawn[k], nil), tick/2, equalTimesTolerance)
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
		d.Difference[k].Low, d.Difference[k].High = centralInterval(drawn[k])
	}
	return d
}

// maximumP returns the p-value of the largest of n standardized differences. If no resample exceeds it, it
// is the normal bound for n tests, which is conservative for correlated tests.
func maximumP(statistic float64, exceeding, n int) float64 {
	if exceeding > 0 {
		return float64(exceeding+1) / (bootstrapResamples + 1)
	}
	return min(1./(bootstrapResamples+1), float64(n)*twoSided(statistic))
}
