//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime is the time that this process has kept processors busy.
func processorTime() (time.Duration, bool) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0, false
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), true
}
