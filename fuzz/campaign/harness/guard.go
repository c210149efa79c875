package harness

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"sealab/fuzz/engine"
	"sealab/internal/atomicfile"
)

// The files in the folder of a crasher, <crashers>/<target>/<bucket>.
const (
	InputFile   = "input"        // raw bytes
	BeforeFile  = "before"       // inputs that the process ran before, as [][]byte in encoding/gob; optional
	outputFile  = "output.txt"   // the failure, for a person
	FailureFile = "failure.json" // the Failure
	seenFolder  = "seen"         // one empty file per design in which the failure occurred
)

// A guard runs inputs in a campaign and files their failures.
type guard struct {
	fn     func(input []byte) error
	folder string // folder for the crashers of this target
	log    *inputLog
	known  map[string]bool // buckets and designs that are on disk
	skip   map[string]bool
}

func newGuard(fn Func) (*guard, error) {
	g := &guard{fn: fn.Run, folder: filepath.Join(os.Getenv(EnvCrashers), fn.Name), known: map[string]bool{}, skip: map[string]bool{}}
	if err := os.MkdirAll(g.folder, 0o755); err != nil {
		return nil, err
	}
	if !engine.IsWorker() {
		return g, nil
	}
	inputs, err := readInputs(filepath.Join(os.Getenv(EnvSkip), fn.Name))
	if err != nil {
		return nil, err
	}
	for _, input := range inputs {
		g.skip[string(input)] = true
	}
	scratch, err := scratchFolder()
	if err != nil {
		return nil, err
	}
	g.log, err = limitProcess(scratch, roomForHistory)
	return g, err
}

// readInputs returns the contents of the files in dir, sorted by name. If dir is missing or "",
// there are none.
func readInputs(dir string) (inputs [][]byte, err error) {
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, file := range files {
		input, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, input)
	}
	return inputs, nil
}

// run runs one input. It returns an error only if it cannot file a failure, so that the engine
// keeps the input.
func (g *guard) run(input []byte) error {
	if g.log == nil || g.skip[string(input)] {
		return nil
	}
	failed, err := g.log.observe(g.fn, input)
	if err != nil || failed == nil || g.known[failed.Bucket+"/"+failed.Design] {
		return err
	}
	if err := File(g.folder, input, g.log.before(), failed); err != nil {
		return err
	}
	g.known[failed.Bucket+"/"+failed.Design] = true
	return nil
}

// File writes a crasher, with the inputs that ran before it, to the folder of its bucket below
// folder. It writes all files or none. If the bucket exists, File only adds the design.
func File(folder string, input []byte, before [][]byte, failed *Failure) error {
	final := filepath.Join(folder, failed.Bucket)
	files, err := filesOf(input, before, failed)
	if err == nil {
		err = atomicfile.WriteFolder(final, files)
	}
	if err != nil && atomicfile.Exists(final) {
		err = addSeen(final, failed.Design)
	}
	if err != nil {
		return fmt.Errorf("filing a crasher: %w", err)
	}
	return nil
}

// filesOf returns the contents of the files of a crasher by path.
func filesOf(input []byte, before [][]byte, failed *Failure) (map[string][]byte, error) {
	data, err := json.MarshalIndent(failed, "", "  ")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{InputFile: input, outputFile: []byte(failed.output()), FailureFile: data}
	if failed.Design != "" {
		files[seenFile(failed.Design)] = nil
	}
	if len(before) == 0 {
		return files, nil
	}
	var list bytes.Buffer
	err = gob.NewEncoder(&list).Encode(before)
	files[BeforeFile] = list.Bytes()
	return files, err
}

// addSeen records a design in which the failure of the crasher in dir occurred.
func addSeen(dir, design string) error {
	if design == "" {
		return nil
	}
	seen := filepath.Join(dir, seenFile(design))
	if err := os.MkdirAll(filepath.Dir(seen), 0o755); err != nil {
		return err
	}
	return os.WriteFile(seen, nil, 0o644)
}

// seenFile returns the path of the file that records a design.
func seenFile(design string) string {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, "design-"+design)
	return filepath.Join(seenFolder, name[:min(len(name), 100)])
}

// ReadSeen returns the designs recorded for the crasher in dir, sorted.
func ReadSeen(dir string) ([]string, error) {
	files, err := os.ReadDir(filepath.Join(dir, seenFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var designs []string
	for _, file := range files {
		designs = append(designs, strings.TrimPrefix(file.Name(), "design-"))
	}
	return designs, nil
}

// DecodeBefore returns the inputs of a BeforeFile, first to last.
func DecodeBefore(file []byte) (inputs [][]byte, err error) {
	if err := gob.NewDecoder(bytes.NewReader(file)).Decode(&inputs); err != nil {
		return nil, fmt.Errorf("%w; want a list of inputs in encoding/gob", err)
	}
	return inputs, nil
}

// exitHang is the exit status of a process whose input hangs.
const exitHang = 3

// scratchFolder returns the folder for input logs and crash outputs.
func scratchFolder() (string, error) {
	scratch := os.Getenv(EnvScratch)
	if scratch == "" {
		return "", errors.New(EnvScratch + " is not set; want a folder")
	}
	return scratch, nil
}

// limitProcess prepares this process to run inputs that may end it. It sets the limits and the
// crash output. It returns an input log in folder scratch, with room for the given number of bytes.
func limitProcess(scratch string, room int) (*inputLog, error) {
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

// watchdogChecks is the number of times that the watchdog checks within the time limit.
const watchdogChecks = 10

// watch ends the process if an input runs longer than limit.
func watch(log *inputLog, crash io.Writer, limit time.Duration) {
	var seen uint64
	var same int
	for range time.Tick(limit / watchdogChecks) {
		if runs := log.runs.Load(); runs != seen || !log.running.Load() {
			seen, same = runs, 0
			continue
		}
		if same++; same < watchdogChecks {
			continue
		}
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		fmt.Fprintf(io.MultiWriter(crash, os.Stderr), "%s for %v\n\n%s\n", hangText, limit, goroutineOfTarget(string(stacks)))
		os.Exit(exitHang)
	}
}
