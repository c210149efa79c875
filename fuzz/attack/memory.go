package attack

import (
	"runtime"
	"runtime/metrics"
)

// allocated is how much this process has allocated so far, in bytes.
func (t *Trial) allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// allocatedAbout is allocated without stopping the process: exact for what is
// large, late by some spans for what is small.
func (t *Trial) allocatedAbout() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// allocates is the least that do makes this process allocate in three runs, or
// the first that is not more than enough: what else runs here may add to it, and
// cannot take away.
func (t *Trial) allocates(enough uint64, do func()) uint64 {
	least := ^uint64(0)
	for range 3 {
		before := t.allocated()
		do()
		if least = min(least, t.allocated()-before); least <= enough {
			break
		}
	}
	return least
}
