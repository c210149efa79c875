// Package harness runs a target inside the processes of a campaign: under the fuzz engine, as a
// job on given inputs, and as the replay of one input.
//
// In plain go test a failing input fails the test. In a campaign, which sets the environment
// variables below, the harness copies each input to a memory-mapped file before the input runs,
// files a failure in the bucket of its cause, and continues. An input that hangs or uses too
// much memory ends the process; the file then shows the input. A campaign needs a Unix system,
// plain go test does not.
//
// A panic outside the goroutine of the fuzz function, and a fatal error of the runtime, end the
// process. RLIMIT_DATA limits the memory. It counts writable memory, whether used or not.
//
// Inputs are read and written in the formats of go test -fuzz, go-fuzz, libFuzzer and OSS-Fuzz.
// A file of go test -fuzz holds one input of one byte slice, quoted as a Go string, and its
// name in a cache folder is the digest of its contents:
//
//	go test fuzz v1
//	[]byte("...")
package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
	"time"
)

// A Func is a function to fuzz.
type Func struct {
	Name  string
	Seeds [][]byte
	// Run returns an error if a check fails; see CheckError. A panic is a failure
	// as well.
	Run func(input []byte) error
	// Explicit returns an input with the same effect that encodes all of its choices. If an
	// input draws choices from its own digest, any change to it changes its effect. If Explicit
	// is nil, every input is explicit.
	Explicit func(input []byte) []byte
}

func (f Func) explicit(input []byte) []byte {
	if f.Explicit == nil {
		return input
	}
	return f.Explicit(input)
}

func (f Func) isExplicit(input []byte) bool { return bytes.Equal(f.explicit(input), input) }

// The environment variables of a process that runs a Func.
const (
	EnvInput    = "SEALAB_FUZZ_INPUT"    // file: run only this input
	EnvHistory  = "SEALAB_FUZZ_HISTORY"  // folder: run these inputs before EnvInput, sorted by name
	EnvJob      = "SEALAB_FUZZ_JOB"      // file: run this Job
	EnvCrashers = "SEALAB_FUZZ_CRASHERS" // folder: file failures here, by target and bucket, and continue
	EnvSkip     = "SEALAB_FUZZ_SKIP"     // folder: skip these inputs, by target, because they end the process
	EnvScratch  = "SEALAB_FUZZ_SCRATCH"  // folder: input logs and crash outputs of processes
	EnvSource   = "SEALAB_FUZZ_SOURCE"   // folder: the package of the fuzz functions, if not the working folder
	EnvHang     = "SEALAB_FUZZ_HANG"     // duration: time limit of one input; default DefaultHang
	EnvMemory   = "SEALAB_FUZZ_MEMORY"   // MiB: memory limit of the process; default DefaultMemory
)

// The default limits. The fuzz engine has a fixed limit of ten seconds per input and reports no
// stack.
const (
	DefaultHang   = 5 * time.Second
	DefaultMemory = 2048 // MiB
)

// GCPercent is the garbage collection target percentage. Targets keep a few megabytes but
// allocate hundreds of times as much per second. At the default of 100, garbage collection
// takes up to a third of the time.
const GCPercent = 400

// Fuzz runs fn as the fuzz function f.
func Fuzz(f *testing.F, fn Func) {
	f.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(GCPercent))
	switch {
	case os.Getenv(EnvInput) != "":
		if err := runInput(os.Getenv(EnvInput), f.TempDir(), fn.Run); err != nil {
			f.Fatal(err)
		}
		f.Skip("the input passes")
	case os.Getenv(EnvJob) != "":
		if err := runJob(os.Getenv(EnvJob), fn); err != nil {
			f.Fatal(err)
		}
		f.Skip("ran a job")
	}
	for _, seed := range fn.Seeds {
		f.Add(seed)
	}
	run := fn.Run
	if os.Getenv(EnvCrashers) != "" {
		g, err := newGuard(fn)
		if err != nil {
			f.Fatal(err)
		}
		run = g.run
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if err := run(input); err != nil {
			t.Error(err) // not Fatal: see engine.Overlay
		}
	})
}

// Main is the main function of a command that runs the job in EnvJob with the target named by
// its argument. It returns the exit status.
func Main(find func(name string) (Func, error)) int {
	if len(os.Args) != 2 || os.Getenv(EnvJob) == "" {
		fmt.Fprintf(os.Stderr, "want one target and %s\n", EnvJob)
		return 2
	}
	fn, err := find(os.Args[1])
	if err == nil {
		err = runJob(os.Getenv(EnvJob), fn)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}

// Sequence runs inputs in order and returns the error of the last one. Errors and panics of the
// others are ignored, because those inputs only prepare the state of the process.
func Sequence(run func([]byte) error, inputs ...[]byte) error {
	last := len(inputs) - 1
	for _, input := range inputs[:last] {
		observe(run, input)
	}
	return run(inputs[last])
}

// runInput runs the input in the file at path after those in the folder of EnvHistory. If the
// system supports it, the limits of a campaign apply. It does not recover from a panic of the
// input.
func runInput(path, scratch string, run func([]byte) error) error {
	inputs, err := readInputs(os.Getenv(EnvHistory))
	if err != nil {
		return err
	}
	input, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	inputs = append(inputs, input)
	log, err := limitProcess(scratch, roomForInput)
	if errors.Is(err, errors.ErrUnsupported) {
		return Sequence(run, inputs...)
	}
	if err != nil {
		return err
	}
	return Sequence(func(input []byte) error {
		if err := log.begin(input); err != nil {
			return err
		}
		defer log.end()
		return run(input)
	}, inputs...)
}

// limits are the resource limits of a process that runs inputs.
type limits struct {
	hang      time.Duration
	memoryMiB uint64
}

func readLimits() (limits, error) {
	l := limits{DefaultHang, DefaultMemory}
	if text := os.Getenv(EnvHang); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return l, fmt.Errorf("%s=%q: want a duration", EnvHang, text)
		}
		l.hang = d
	}
	if text := os.Getenv(EnvMemory); text != "" {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n == 0 {
			return l, fmt.Errorf("%s=%q: want a number of MiB", EnvMemory, text)
		}
		l.memoryMiB = n
	}
	return l, nil
}
