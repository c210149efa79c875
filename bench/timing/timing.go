// Package timing measures whether the time of a codec depends on the content of its input, for pairs of
// inputs that must take the same time. It writes samples. Package analysis/timing judges them.
//
// A [Comparison] is one such pair for one subject. It is measured in blocks. A block holds one sample of
// each class, in random order. A sample is a number of operations on one input, which together take at
// least [clockShare] times as long as reading the clock. Before each sample, its input is copied into the
// same buffer, so that all inputs have the same address and alignment. The goroutine is locked to its
// thread, and the thread to one processor. The garbage collector runs only between chunks of blocks, and
// the first blocks of each chunk are dropped.
//
// A class has several tokens as inputs, so that the address of one token does not matter. For the same
// reason, if the classes differ in their keys, new keys and objects are made for each cluster of blocks.
//
// Comparisons over HTTP ([Remote]) do not restrict the scheduler, because client and server need it.
//
// Limitations: the package does not observe caches and predictors as another process could. It never
// measures time through a pipe to a worker.
package timing

import (
	"math/rand/v2"
	"slices"
	"time"

	"sealab/internal/runfile"
)

// A Comparison is a probe that can be measured.
type Comparison struct {
	runfile.Probe
	// Clustered says that the classes differ in objects in memory, such as keys. prepare is then called
	// for each cluster.
	Clustered bool
	// prepare makes the inputs of both classes.
	prepare func(random *rand.Rand) (*classPair, error)
	// check ends the comparison and returns the first error of its operations. It is nil if operations
	// cannot fail.
	check func() error
}

// A classPair holds the inputs of A and of B, and their operations.
type classPair struct{ a, b class }

// A class is a set of inputs and the operation on them.
type class struct {
	inputs [][]byte
	do     func(input []byte) // the operation that is timed
}

// sameOperation returns classes that differ only in their inputs.
func sameOperation(a, b [][]byte, do func([]byte)) *classPair {
	return &classPair{class{a, do}, class{b, do}}
}

// poolSize is the number of inputs of a class.
const poolSize = 32

// clockShare is the minimum ratio of the time of a sample to that of reading the clock.
const clockShare = 50

// maxOps is the largest number of operations in a sample.
const maxOps = 1000

// clockEpoch is the origin of the samples' clock. Reading the time since clockEpoch reads only the
// monotonic clock.
var clockEpoch = time.Now()

func sinceEpoch() time.Duration { return time.Since(clockEpoch) }

// clockCost returns the time in nanoseconds of reading the clock.
func (p precision) clockCost() float64 {
	const readings = 1000
	return float64(p.typical(func() {
		for range readings {
			sinceEpoch()
		}
	})) / readings
}

// operations returns how many calls of do make up a sample.
func (p precision) operations(do func(), clock float64) int {
	const readings = 8
	perOp := float64(p.typical(func() {
		for range readings {
			do()
		}
	})) / readings
	return max(1, min(maxOps, int(clockShare*clock/max(perOp, 1))+1))
}

// typical returns the median time of do.
func (p precision) typical(do func()) time.Duration {
	times := make([]time.Duration, p.readings)
	for i := range times {
		start := sinceEpoch()
		do()
		times[i] = sinceEpoch() - start
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// stepsPerTurn is the number of steps per iteration of the loop in spin.
const stepsPerTurn = 32

// spin takes a time in proportion to steps. Each step is a multiplication that depends on the one before,
// and the first depends on begin. The steps below one turn take branches that are the same in each
// operation. A processor predicts the end of a long loop only in some of its states. With one step per
// iteration, a delay of 2 ns took 2.2 ns in one pass and -0.3 ns in the other.
func spin(steps int, begin byte) byte {
	x := uint64(begin) | 1
	for ; steps >= stepsPerTurn; steps -= stepsPerTurn {
		x = squareEightTimes(squareEightTimes(squareEightTimes(squareEightTimes(x))))
	}
	for bit := stepsPerTurn / 2; bit > 0; bit /= 2 {
		if steps&bit != 0 {
			for range bit {
				x *= x
			}
		}
	}
	return byte(x >> 56)
}

// squareEightTimes squares x eight times. The compiler cannot fold these steps into one, as it does with a
// constant factor.
func squareEightTimes(x uint64) uint64 {
	x *= x
	x *= x
	x *= x
	x *= x
	x *= x
	x *= x
	x *= x
	return x * x
}

// spinResult keeps the compiler from removing spin.
var spinResult byte

// stepCost returns the nanoseconds of one step of spin.
func stepCost() float64 {
	const steps = 20_000
	return float64(fullPrecision.typical(func() { spinResult = spin(steps, spinResult) })) / steps
}
