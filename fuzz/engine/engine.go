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
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	changed := map[string]string{countersFile: own}
	for name, edits := range edits {
		source, err := os.ReadFile(filepath.Join(goroot, "src", name))
		if err != nil {
			return "", fmt.Errorf("sealab: %w: %w", ErrUnknown, err)
		}
		if changed[name], err = applyAll(string(source), edits); err != nil {
			return "", fmt.Errorf("sealab: %s: %w", name, err)
		}
	}
	return write(changed, filepath.Join(goroot, "src"), dir)
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

// write writes the files and the overlay that puts them in the place of those
// below src.
func write(files map[string]string, src, dir string) (string, error) {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, source := range files {
		path := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
			return "", fmt.Errorf("sealab: %w", err)
		}
		overlay.Replace[filepath.Join(src, name)] = path
	}
	data, err := json.Marshal(overlay)
	if err != nil {
		return "", fmt.Errorf("sealab: %w", err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return "", fmt.Errorf("sealab: %w", err)
	}
	return path, nil
}
