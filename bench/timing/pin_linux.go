package timing

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// pinToProcessor locks the goroutine to its thread, and the thread to the last processor that it may use.
// restore undoes both. If the system refuses, the thread stays unpinned, which only costs precision.
func pinToProcessor() (restore func()) {
	runtime.LockOSThread()
	var before, last unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return runtime.UnlockOSThread
	}
	for cpu, left := 0, before.Count(); left > 0; cpu++ {
		if before.IsSet(cpu) {
			last.Zero()
			last.Set(cpu)
			left--
		}
	}
	unix.SchedSetaffinity(0, &last) //nolint:errcheck // see above
	return func() {
		unix.SchedSetaffinity(0, &before) //nolint:errcheck // as above
		runtime.UnlockOSThread()
	}
}
