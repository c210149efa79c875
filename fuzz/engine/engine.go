// Package engine makes the fuzz engine of the standard library faster.
//
// For each input the engine of go test -fuzz starts a goroutine, a test with a
// context and a timer, writes down who called whom so that a failed test could
// say at which line it failed, and rounds and compares the counters of the
// program byte by byte. With the few thousand counters of a codec's packages
// that takes longer than most codecs take for a token. Overlay makes a copy of
// the files in question, for the flag -overlay of the go command, in which a fuzz
// function of one []byte is called as it is, without any of that, and counters
// are read by words. There is no timer: who calls Fuzz watches for inputs that
// hang. What the engine finds and keeps stays the same.
//
// Places are found by function and expression. A Go whose engine looks different
// is refused (ErrUnknown), and is to be used as it is.
package engine

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sealab/internal/overlay"
)

// ErrUnknown says that the engine of this Go is not the one that is known here.
var ErrUnknown = errors.New("the engine of this Go is not known")

// added are the files that the standard library gets, by their path below src.
var added = map[string]struct{ pkg, source string }{
	"internal/fuzz/sealab_counters.go": {"fuzz", counters},
	"testing/sealab_direct.go":         {"testing", direct},
}

var (
	//go:embed counters.go
	counters string
	//go:embed direct.go
	direct string
)

// edits are what is changed, by file below src.
var edits = map[string][]edit{
	"internal/fuzz/coverage.go": {
		{function: "SnapshotCoverage", to: "{ roundCounters(coverageSnapshot, coverage()) }"},
		{function: "countNewCoverageBits", to: "{ return countNew(base, snapshot) }"},
	},
	"internal/fuzz/worker.go": {
		{function: "RunFuzzWorker", from: "timer := time.AfterFunc(10*time.Second, func() {", to: "_ = (func() {"},
		{function: "RunFuzzWorker", from: "defer timer.Stop()"},
	},
	"testing/fuzz.go": {
		{function: "Fuzz", from: "case fuzzWorker:", to: "case fuzzWorker:\n\t\trun = f.direct(ff, run)"},
	},
}

// Overlay writes the changed files of the Go in goroot to dir, and returns the
// path of what the flag -overlay takes.
func Overlay(goroot, dir string) (string, error) {
	src := filepath.Join(goroot, "src")
	changed := map[string][]byte{}
	for name, file := range added {
		own, err := asPartOf(file.pkg, file.source)
		if err != nil {
			return "", err
		}
		changed[filepath.Join(src, name)] = []byte(own)
	}
	for name, edits := range edits {
		path := filepath.Join(src, name)
		source, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("sealab: %w: %w", ErrUnknown, err)
		}
		edited, err := applyAll(string(source), edits)
		if err != nil {
			return "", fmt.Errorf("sealab: %s: %w", name, err)
		}
		changed[path] = []byte(edited)
	}
	return overlay.Write(dir, changed)
}

// applyAll applies edits to a source one after another.
func applyAll(source string, edits []edit) (string, error) {
	for _, e := range edits {
		var err error
		if source, err = e.apply(source); err != nil {
			return "", err
		}
	}
	return source, nil
}
