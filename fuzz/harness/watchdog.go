package harness

import (
	"errors"
	"fmt"
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

// watched prepares this process to run inputs of which any may be its last: it
// returns the notebook to write them to.
func watched() (*notebook, error) {
	scratch := os.Getenv(EnvScratch)
	if scratch == "" {
		return nil, errors.New("sealab: " + EnvScratch + " is not set: want a folder")
	}
	l, err := limitsOfEnvironment()
	if err != nil {
		return nil, err
	}
	n, err := newNotebook(NotebookPath(scratch, os.Getpid()))
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
		fmt.Fprintf(lastWords, "%s for %v\n\n%s", hangs, limit, goroutineOf(string(stacks), "harness.observe("))
		os.Exit(exitHang)
	}
}

// goroutineOf returns the goroutine of stacks that is inside a function.
func goroutineOf(stacks, function string) string {
	for goroutine := range strings.SplitSeq(stacks, "\n\n") {
		if strings.Contains(goroutine, function) {
			return goroutine
		}
	}
	return stacks
}

// lastVerdict returns the verdict on an input that ended its process, from what
// the runtime wrote then.
func lastVerdict(lastWords string) *Verdict {
	first, _, _ := strings.Cut(lastWords, "\n")
	kind := KindFatal
	switch {
	case lastWords == "":
		kind, first = KindMemory, "the process was killed while it ran this input, as the kernel does when memory is short"
	case strings.HasPrefix(lastWords, hangs):
		kind = KindHang
	case strings.Contains(lastWords, "out of memory"), strings.Contains(lastWords, "cannot allocate memory"):
		kind = KindMemory
	}
	return newVerdict(kind, first, lastWords)
}
