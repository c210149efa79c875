// Package timing measures if the time of a codec depends on the content of its
// input, for pairs of inputs that must take the same time. It writes samples;
// package analysis/timing judges them.
//
// A [Comparison] is one such pair at one subject. It is measured in blocks. A block
// holds one sample of each class, in an order drawn by lot. A sample is a number
// of operations on one input, which take at least [clockShare] times as long as
// reading the clock. Before each sample its input is copied into one buffer, so
// that address and alignment are the same for all. The goroutine is locked to its
// thread and the thread to one processor. The garbage collector runs only between
// chunks of blocks, and the first blocks of each chunk are dropped.
//
// The inputs of a class are several tokens, so that the place of one token in
// memory does not matter. If the classes differ in their keys, the keys and all
// objects made from them are drawn anew for each cluster of blocks, for the same
// reason.
//
// Comparisons over HTTP ([Remote]) leave the scheduler alone, since client and server
// need it.
//
// Limitations: caches and predictors are not seen as another process sees them.
// Time through a pipe to a worker is never measured.
package timing

import (
	"math/rand/v2"
	"slices"
	"time"

	"sealab/internal/runfile"
)

// A Comparison is a probe with the means to measure it.
type Comparison struct {
	runfile.Probe
	// Clustered says that the classes differ in objects that lie in memory, such
	// as keys, so that prepare has to be called for each cluster.
	Clustered bool
	// prepare makes the inputs of both classes.
	prepare func(random *rand.Rand) (*classes, error)
	// check ends the comparison and returns the first error of its operations. It is
	// nil if they cannot fail.
	check func() error
}

// classes are the inputs of A and of B, and their operations.
type classes struct{ a, b class }

// A class is a kind of input.
type class struct {
	inputs [][]byte
	do     func(input []byte) // the operation that is timed
}

// same returns classes that differ in their inputs alone.
func same(a, b [][]byte, do func([]byte)) *classes { return &classes{class{a, do}, class{b, do}} }

// poolSize is the number of inputs of a class.
const poolSize = 32

// clockShare is how many times longer than the clock a sample takes at least.
const clockShare = 50

// maxOps bounds the number of operations in a sample.
const maxOps = 1000

// epoch is the origin of the clock of samples. Reading the time since then takes
// the monotonic clock alone.
var epoch = time.Now()

func now() time.Duration { return time.Since(epoch) }

// clockCost returns the time in nanoseconds that reading the clock takes.
func (p precision) clockCost() float64 {
	const readings = 1000
	return float64(p.typical(func() {
		for range readings {
			now()
		}
	})) / readings
}

// operations returns how many times do fits into a sample.
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
		start := now()
		do()
		times[i] = now() - start
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// turn is the number of steps in one turn of the loop of spin.
const turn = 32

// spin takes a time in proportion to steps: each is a multiplication that waits
// for the one before, and the first waits for begin. Steps below a turn take
// branches that go the way they went in the operation before. A processor predicts
// the end of a long loop in some of its states alone. With a step for each turn, a
// delay of 2 ns took 2.2 ns in one pass and -0.3 ns in the other.
func spin(steps int, begin byte) byte {
	x := uint64(begin) | 1
	for ; steps >= turn; steps -= turn {
		x = squared8(squared8(squared8(squared8(x))))
	}
	for bit := turn / 2; bit > 0; bit /= 2 {
		if steps&bit != 0 {
			for range bit {
				x *= x
			}
		}
	}
	return byte(x >> 56)
}

// squared8 squares x eight times. The compiler cannot fold the steps into one, as it
// does with a constant factor.
func squared8(x uint64) uint64 {
	x *= x
	x *= x
	x *= x
	x *= x
	x *= x
	x *= x
	x *= x
	return x * x
}

// spun keeps the compiler from leaving spin out.
var spun byte

// stepCost returns the time in nanoseconds of one step of spin.
func stepCost() float64 {
	const steps = 20_000
	return float64(full.typical(func() { spun = spin(steps, spun) })) / steps
}
