//go:build !linux

package timing

import "runtime"

// pin locks the goroutine to its thread; restore undoes it.
func pin() (restore func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
