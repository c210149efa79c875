package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sealab/internal/atomicfile"
)

// The files of a crasher, in its folder <crashers>/<target>/<bucket>.
const (
	InputFile   = "input"        // the raw bytes
	BeforeFile  = "before"       // the inputs that its process ran before it, see DecodeBefore; absent where none are known
	OutputFile  = "output.txt"   // what went wrong, for a person
	VerdictFile = "verdict.json" // the Verdict
)

// A guard runs inputs in a campaign.
type guard struct {
	subject  func(input []byte) error
	folder   string // of this target's crashers
	notebook *notebook
	known    map[string]bool // buckets that are on disk
	deadly   map[string]bool
}

func newGuard(s Subject) (*guard, error) {
	g := &guard{subject: s.Run, folder: filepath.Join(os.Getenv(EnvCrashers), s.Name), known: map[string]bool{}}
	if err := os.MkdirAll(g.folder, 0o755); err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	if !isWorker() {
		return g, nil // it hands inputs out and runs none
	}
	var err error
	if g.deadly, err = readDeadly(filepath.Join(os.Getenv(EnvDeadly), s.Name)); err != nil {
		return nil, err
	}
	scratch, err := scratchOfEnvironment()
	if err != nil {
		return nil, err
	}
	g.notebook, err = watched(scratch, roomForHistory)
	return g, err
}

// readDeadly returns the inputs in dir. One that is in the seeds or the corpus
// would otherwise end every process of its target before it finds anything.
func readDeadly(dir string) (map[string]bool, error) {
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	deadly := map[string]bool{}
	for _, file := range files {
		input, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return nil, fmt.Errorf("sealab: %w", err)
		}
		deadly[string(input)] = true
	}
	return deadly, nil
}

// isWorker reports whether this process is one that the fuzz engine started to
// run inputs.
func isWorker() bool {
	for _, arg := range os.Args[1:] {
		if arg == "-test.fuzzworker" {
			return true
		}
	}
	return false
}

// run runs one input. It returns an error only when a failure could not be
// filed, so that the engine keeps the input.
func (g *guard) run(input []byte) error {
	if g.notebook == nil || g.deadly[string(input)] {
		return nil
	}
	v, err := g.notebook.observe(g.subject, input)
	if err != nil || v == nil {
		return err
	}
	if g.known[v.Bucket] {
		return nil
	}
	if err := File(g.folder, input, g.notebook.before(), v); err != nil {
		return err
	}
	g.known[v.Bucket] = true
	return nil
}

// File writes a crasher to its bucket's folder below folder, whole or not at
// all, with the inputs that ran before it. Where the bucket has one already,
// that one stays.
func File(folder string, input []byte, before [][]byte, v *Verdict) error {
	final := filepath.Join(folder, v.Bucket)
	if _, err := os.Stat(final); err == nil {
		return nil
	}
	beside, err := os.MkdirTemp(folder, ".new-")
	if err != nil {
		return fmt.Errorf("sealab: filing a crasher: %w", err)
	}
	defer os.RemoveAll(beside)
	if err := fill(beside, input, before, v); err != nil {
		return err
	}
	err = os.Chmod(beside, 0o755)
	if err == nil {
		err = os.Rename(beside, final)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) { // another process may have been first
		return fmt.Errorf("sealab: filing a crasher: %w", err)
	}
	return nil
}

// fill writes the files of a crasher to dir.
func fill(dir string, input []byte, before [][]byte, v *Verdict) error {
	verdict, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("sealab: filing a crasher: %w", err)
	}
	files := map[string][]byte{InputFile: input, OutputFile: []byte(v.Output()), VerdictFile: verdict}
	if len(before) > 0 {
		if files[BeforeFile], err = encodeBefore(before); err != nil {
			return err
		}
	}
	for name, data := range files {
		if err := atomicfile.Write(filepath.Join(dir, name), data); err != nil {
			return err
		}
	}
	return nil
}
