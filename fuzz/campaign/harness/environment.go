package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// The environment of a fuzz function.
const (
	EnvInput    = "SEALAB_FUZZ_INPUT"    // a file: run this one input, plainly, and nothing else
	EnvHistory  = "SEALAB_FUZZ_HISTORY"  // a folder: run these inputs before that of EnvInput, in the order of their names
	EnvJob      = "SEALAB_FUZZ_JOB"      // a file: a Job to do instead of fuzzing
	EnvCrashers = "SEALAB_FUZZ_CRASHERS" // a folder: file failures here, by target and bucket, and go on
	EnvDeadly   = "SEALAB_FUZZ_DEADLY"   // a folder: inputs that ended their process, by target; they are not run again
	EnvScratch  = "SEALAB_FUZZ_SCRATCH"  // a folder: notebooks and last words of the processes
	EnvSource   = "SEALAB_FUZZ_SOURCE"   // a folder: that of the package with the fuzz functions, which is not the working folder then
	EnvHang     = "SEALAB_FUZZ_HANG"     // a duration: an input that takes longer hangs; default DefaultHang
	EnvMemory   = "SEALAB_FUZZ_MEMORY"   // MiB: the process may write to no more; default DefaultMemory
)

// The limits of one input. The fuzz engine has its own limit of ten seconds,
// which cannot be set and says nothing of where the time went.
const (
	DefaultHang   = 5 * time.Second
	DefaultMemory = 2048 // MiB
)

// limits are what a process that runs inputs keeps to.
type limits struct {
	hang      time.Duration
	memoryMiB uint64
}

func limitsOfEnvironment() (limits, error) {
	l := limits{DefaultHang, DefaultMemory}
	if text := os.Getenv(EnvHang); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return l, fmt.Errorf("sealab: %s=%q: want a duration", EnvHang, text)
		}
		l.hang = d
	}
	if text := os.Getenv(EnvMemory); text != "" {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n == 0 {
			return l, fmt.Errorf("sealab: %s=%q: want a number of MiB", EnvMemory, text)
		}
		l.memoryMiB = n
	}
	return l, nil
}

// NotebookPath and LastWordsPath are where the process pid writes down the
// input it is running, and the runtime what ended the process.
func NotebookPath(scratch string, pid int) string {
	return filepath.Join(scratch, notebookPrefix+strconv.Itoa(pid))
}

func LastWordsPath(scratch string, pid int) string {
	return filepath.Join(scratch, lastWordsPrefix+strconv.Itoa(pid))
}

const (
	notebookPrefix  = "input-"
	lastWordsPrefix = "last-words-"
)
