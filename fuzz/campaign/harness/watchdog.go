package harness

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// hangs begins the last words of a process whose input hangs.
const hangs = "sealab: the input hangs"

// exitHang is the status of a process whose input hangs.
const exitHang = 3

// scratchOfEnvironment returns the folder of notebooks and last words.
func scratchOfEnvironment() (string, error) {
	scratch := os.Getenv(EnvScratch)
	if scratch == "" {
		return "", errors.New("sealab: " + EnvScratch + " is not set: want a folder")
	}
	return scratch, nil
}

// watched prepares this process to run inputs of which any may be its last: it
// returns the notebook to write them to, in the folder scratch, with room for
// so many bytes of them.
func watched(scratch string, room int) (*notebook, error) {
	l, err := limitsOfEnvironment()
	if err != nil {
		return nil, err
	}
	n, err := newNotebook(NotebookPath(scratch, os.Getpid()), room)
	if err != nil {
		return nil, err
	}
	lastWords, err := os.Create(LastWordsPath(scratch, os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	if err := debug.SetCrashOutput(lastWords, debug.CrashOptions{}); err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	if err := limitMemory(l.memoryMiB); err != nil {
		return nil, fmt.Errorf("sealab: limiting memory to %d MiB: %w", l.memoryMiB, err)
	}
	go watch(n, lastWords, l.hang)
	return n, nil
}

// looks is how often the watchdog looks while an input may run.
const looks = 10

// watch ends the process when one input runs for limit.
func watch(n *notebook, lastWords *os.File, limit time.Duration) {
	var seen uint64
	var same int
	for range time.Tick(limit / looks) {
		runs := n.runs.Load()
		if runs != seen || !n.running.Load() {
			seen, same = runs, 0
			continue
		}
		if same++; same < looks {
			continue
		}
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		fmt.Fprintf(io.MultiWriter(lastWords, os.Stderr), "%s for %v\n\n%s\n", hangs, limit, goroutineOf(string(stacks)))
		os.Exit(exitHang)
	}
}

// goroutineOf returns the goroutine of stacks that runs the input.
func goroutineOf(stacks string) string {
	for goroutine := range strings.SplitSeq(stacks, "\n\n") {
		if strings.Contains(goroutine, "harness.observe(") || strings.Contains(goroutine, "harness.runInput(") {
			return goroutine
		}
	}
	return stacks
}
