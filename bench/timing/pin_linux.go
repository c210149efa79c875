package timing

import (
	"math/bits"
	"runtime"
	"syscall"
	"unsafe"
)

// processors is a set of processors as the system writes it.
type processors [16]uint64

func (p *processors) call(trap uintptr) bool {
	_, _, errno := syscall.RawSyscall(trap, 0, unsafe.Sizeof(*p), uintptr(unsafe.Pointer(p)))
	return errno == 0
}

// pin locks the goroutine to its thread and the thread to the last of the
// processors that it may use. restore undoes both. If the system refuses, the
// thread stays free, which costs precision only.
func pin() (restore func()) {
	runtime.LockOSThread()
	var before processors
	if !before.call(syscall.SYS_SCHED_GETAFFINITY) {
		return runtime.UnlockOSThread
	}
	last := before.last()
	last.call(syscall.SYS_SCHED_SETAFFINITY)
	return func() {
		before.call(syscall.SYS_SCHED_SETAFFINITY)
		runtime.UnlockOSThread()
	}
}

// last returns the set of the last processor in p alone.
func (p *processors) last() (one processors) {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] != 0 {
			one[i] = 1 << (bits.Len64(p[i]) - 1)
			return one
		}
	}
	return *p
}
