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
	countOps    = 64
)

// count counts the allocations of the cell's operation, outside any timing.
func count(c Cell) (Allocations, error) {
	if !c.InProcess {
		return Allocations{}, nil
	}
	least := Allocations{Counted: true, Bytes: ^uint64(0), Allocs: ^uint64(0)}
	var before, after runtime.MemStats
	for range countTrials {
		if _, err := c.Run(countOps); err != nil {
			return Allocations{}, err
		}
		runtime.ReadMemStats(&before)
		if _, err := c.Run(countOps); err != nil {
			return Allocations{}, err
		}
		runtime.ReadMemStats(&after)
		least.Bytes = min(least.Bytes, (after.TotalAlloc-before.TotalAlloc)/countOps)
		least.Allocs = min(least.Allocs, (after.Mallocs-before.Mallocs)/countOps)
	}
	return least, nil
}
