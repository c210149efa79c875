package harness

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// exitHang is the exit status of a process if its input hangs.
const exitHang = 3

// scratchFolder returns the folder of input logs and crash outputs.
func scratchFolder() (string, error) {
	scratch := os.Getenv(EnvScratch)
	if scratch == "" {
		return "", errors.New(EnvScratch + " is not set; want a folder")
	}
	return scratch, nil
}

// limited prepares this process to run inputs that may end it: it sets the
// limits and the crash output, and returns an input log with room bytes in the
// folder scratch.
func limited(scratch string, room int) (*inputLog, error) {
	l, err := readLimits()
	if err != nil {
		return nil, err
	}
	log, err := newInputLog(logPath(scratch, os.Getpid()), room)
	if err != nil {
		return nil, err
	}
	crash, err := os.Create(crashPath(scratch, os.Getpid()))
	if err != nil {
		return nil, err
	}
	if err := debug.SetCrashOutput(crash, debug.CrashOptions{}); err != nil {
		return nil, err
	}
	if err := limitMemory(l.memoryMiB); err != nil {
		return nil, fmt.Errorf("limiting memory to %d MiB: %w", l.memoryMiB, err)
	}
	go watch(log, crash, l.hang)
	return log, nil
}

// looks is the number of times that the watchdog looks within the time limit.
const looks = 10

// watch ends the process if one input runs for limit.
func watch(log *inputLog, crash io.Writer, limit time.Duration) {
	var seen uint64
	var same int
	for range time.Tick(limit / looks) {
		runs := log.runs.Load()
		if runs != seen || !log.running.Load() {
			seen, same = runs, 0
			continue
		}
		if same++; same < looks {
			continue
		}
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		fmt.Fprintf(io.MultiWriter(crash, os.Stderr), "%s for %v\n\n%s\n", hangText, limit, goroutineOfTarget(string(stacks)))
		os.Exit(exitHang)
	}
}
