// Package engine makes the fuzz engine of the standard library faster.
//
// For each input the engine of go test -fuzz rounds and compares the counters of
// the program byte by byte, and writes down who called whom so that a failed
// test could say at which line it failed. With the few thousand counters of a
// codec's packages that takes longer than most codecs take for a token. Overlay
// makes a copy of the three files in question in which the counters are read by
// words and nothing is written down, for the flag -overlay of the go command.
// What the engine finds and keeps stays the same.
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

//go:embed counters.go
var counters string

// countersFile is where the functions of counters.go stand beside the engine.
const countersFile = "internal/fuzz/sealab_counters.go"

// edits are what is changed, by file below src.
var edits = map[string][]edit{
	"internal/fuzz/coverage.go": {
		{function: "SnapshotCoverage", to: "{ roundCounters(coverageSnapshot, coverage()) }"},
		{function: "countNewCoverageBits", to: "{ return countNew(base, snapshot) }"},
	},
	"testing/fuzz.go":    {{function: "Fuzz", from: "runtime.Callers(2, pc[:])", to: "0"}},
	"testing/testing.go": {{function: "tRunner", from: "callerName(0)", to: `""`}},
}

// Overlay writes the changed files of the Go in goroot to dir, and returns the
// path of what the flag -overlay takes.
func Overlay(goroot, dir string) (string, error) {
	own, err := renamePackage(counters, "fuzz")
	if err != nil {
		return "", err
	}
	src := filepath.Join(goroot, "src")
	changed := map[string][]byte{filepath.Join(src, countersFile): []byte(own)}
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
