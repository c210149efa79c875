package attack

import "runtime"

// allocated is how much this process has allocated so far, in bytes. For a
// subject in another process it says nothing and stays still enough.
func (t *Trial) allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// allocates is the least that do makes this process allocate in three runs: what
// else runs here may add to it, and cannot take away.
func (t *Trial) allocates(do func()) uint64 {
	least := ^uint64(0)
	for range 3 {
		before := t.allocated()
		do()
		least = min(least, t.allocated()-before)
	}
	return least
}
