package timing

import (
	"slices"
	"time"
)

// clockShare is how many times longer than the clock a sample takes at least.
const clockShare = 50

// maxOps bounds the number of operations in a sample.
const maxOps = 1000

// epoch is where the clock of samples begins. Reading the time since then takes
// the monotonic clock alone.
var epoch = time.Now()

func now() time.Duration { return time.Since(epoch) }

// clockCost returns the time in nanoseconds that reading the clock takes.
func clockCost() float64 {
	const readings = 1000
	return float64(typical(func() {
		for range readings {
			now()
		}
	})) / readings
}

// operations returns how many times do fits into a sample.
func operations(do func(), clock float64) int {
	const readings = 8
	perOp := float64(typical(func() {
		for range readings {
			do()
		}
	})) / readings
	return max(1, min(maxOps, int(clockShare*clock/max(perOp, 1))+1))
}

// typical returns the median time of do.
func typical(do func()) time.Duration {
	times := make([]time.Duration, 101)
	for i := range times {
		start := now()
		do()
		times[i] = now() - start
	}
	slices.Sort(times)
	return times[len(times)/2]
}
