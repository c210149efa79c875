//go:build !linux

package timing

import "runtime"

// pinToProcessor locks the goroutine to its thread; restore undoes it.
func pinToProcessor() (restore func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
