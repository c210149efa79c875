package bench

import "runtime"

// Allocations are what one operation allocates.
type Allocations struct {
	Counted       bool // false: the work was done in another process
	Bytes, Allocs uint64
}

// The trials of count. What the runtime allocates for itself meanwhile is
// divided away within a trial, and where that is not enough, the least of
// several trials has none of it.
const (
	countTrials = 3
	leastCount  = 4  // operations of a trial
	mostCount   = 64 // operations of a trial
)

// count counts the allocations of the cell's operation, outside any timing. n is
// the number of operations that the cell runs in a round.
func count(c Cell, n int) (Allocations, error) {
	ops := min(mostCount, max(leastCount, n/16))
	if !c.InProcess {
		return Allocations{}, nil
	}
	least := Allocations{Counted: true, Bytes: ^uint64(0), Allocs: ^uint64(0)}
	var before, after runtime.MemStats
	for range countTrials {
		if _, err := c.Run(ops); err != nil {
			return Allocations{}, err
		}
		runtime.ReadMemStats(&before)
		if _, err := c.Run(ops); err != nil {
			return Allocations{}, err
		}
		runtime.ReadMemStats(&after)
		least.Bytes = min(least.Bytes, (after.TotalAlloc-before.TotalAlloc)/uint64(ops))
		least.Allocs = min(least.Allocs, (after.Mallocs-before.Mallocs)/uint64(ops))
	}
	return least, nil
}
