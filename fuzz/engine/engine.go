// Package engine holds all parts of the fuzz driver that depend on internals of Go: the source,
// flags and output of the engine of go test -fuzz, the format of coverage counters, and the
// text of stack traces and fatal errors. Each part has a fallback for other Go versions:
//
//	Overlay, BuildFlags  a faster engine; fallback: the engine of the toolchain
//	Output               executions and coverage of a run; fallback: zero coverage
//	Features             coverage of one input; fallback: a digest of all counters
//	Frames               functions of a stack trace; fallback: no frames, and
//	                     callers compare error texts
//	OutOfMemory, Reason  the cause of a process's death; fallback: a fatal error
//
// The tests run the installed toolchain and fail if a part has stopped working.
package engine

import (
	_ "embed"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sealab/internal/command"
)

// BuildFlags returns the flags of go test -c that instrument packages for the
// fuzz engine. The flag -fuzz would also instrument the standard library, and
// reading its counters after every input costs more than most codecs need for a
// token.
func BuildFlags(packages []string) []string {
	var flags []string
	for _, pattern := range packages {
		flags = append(flags, "-gcflags="+pattern+"=-d=libfuzzer")
	}
	return flags
}

// ProcessEnv is additional environment of a fuzzing process. The engine prints its coverage
// only in debug lines. Each process runs one input at a time, in a new goroutine. With a second
// processor, every input would wake up a thread.
var ProcessEnv = []string{"GODEBUG=fuzzdebug=1", "GOMAXPROCS=1"}

// IsWorker reports whether the engine started this process to run inputs. Its other process
// distributes inputs.
func IsWorker() bool { return slices.Contains(os.Args[1:], "-test.fuzzworker") }

// errUnknown reports that the source of the fuzz engine is not the source that Overlay was
// written for.
var errUnknown = errors.New("unknown fuzz engine")

// An edit replaces a text in a function. If from is empty, it replaces the whole body.
type edit struct{ function, from, to string }

// edits are the changes to the standard library, by file path below src.
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

// added are the files added to the standard library, by path below src.
var added = map[string]struct{ pkg, source string }{
	"internal/fuzz/sealab_counters.go": {"fuzz", counters},
	"testing/sealab_direct.go":         {"testing", direct},
}

//go:embed counters.go
var counters string

// Overlay writes a faster fuzz engine to dir, derived from the sources in goroot. It returns
// the argument for the -overlay flag of the go command.
//
// For each input the engine of go test -fuzz starts a goroutine, and a test with a context and
// a timer. It records the stack of callers, and rounds and compares all counters byte by byte.
// The overlay calls a fuzz function of one []byte directly and processes counters by words and
// pages. It finds and keeps the same inputs. It has no timer, so the fuzz function must detect
// inputs that hang. If the source differs from the expected one, the error is errUnknown.
func Overlay(goroot, dir string) (string, error) {
	src := filepath.Join(goroot, "src")
	changed := map[string][]byte{}
	for name, file := range added {
		source, err := asPartOf(file.pkg, file.source)
		if err != nil {
			return "", err
		}
		changed[filepath.Join(src, name)] = []byte(source)
	}
	for name, edits := range edits {
		path := filepath.Join(src, name)
		data, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("%w: %w", errUnknown, err)
		}
		source := string(data)
		for _, e := range edits {
			if source, err = e.apply(source); err != nil {
				return "", fmt.Errorf("%s: %w", name, err)
			}
		}
		changed[path] = []byte(source)
	}
	return command.GoOverlay(dir, changed)
}

// apply returns source with the edit applied.
func (e edit) apply(source string) (string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.SkipObjectResolution)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnknown, err)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == e.function && f.Body != nil {
			return e.applyTo(source, set.Position(f.Body.Pos()).Offset, set.Position(f.Body.End()).Offset)
		}
	}
	return "", fmt.Errorf("%w: function %s is missing", errUnknown, e.function)
}

// applyTo applies the edit to the body source[begin:end].
func (e edit) applyTo(source string, begin, end int) (string, error) {
	body := source[begin:end]
	if e.from == "" {
		return source[:begin] + e.to + source[end:], nil
	}
	if n := strings.Count(body, e.from); n != 1 {
		return "", fmt.Errorf("%w: %s has %q %d times, want once", errUnknown, e.function, e.from, n)
	}
	return source[:begin] + strings.Replace(body, e.from, e.to, 1) + source[end:], nil
}

// asPartOf returns a source file of this folder as a file of package name, without the text
// before its package clause.
func asPartOf(name, source string) (string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.PackageClauseOnly)
	if err != nil {
		return "", err
	}
	return "package " + name + source[set.Position(file.Name.End()).Offset:], nil
}

// direct is a file that Overlay compiles into package testing of the standard library. It is a
// constant rather than an embedded file, because go-fuzz copies only the Go files of this
// build.
const direct = `package testing

import "io"

// direct returns the function that a worker calls for each input. If ff takes one
// []byte, that is ff itself in the worker's own goroutine; otherwise it is
// subtest, which starts a goroutine, a context and a test for each input. ff must
// recover from its panics and fail by T.Error alone, because T.FailNow ends the
// goroutine.
func (f *F) direct(ff any, subtest func(io.Writer, corpusEntry) bool) func(io.Writer, corpusEntry) bool {
	call, ok := ff.(func(*T, []byte))
	if !ok {
		return subtest
	}
	t := &T{common: common{name: f.name, parent: &f.common, level: f.level + 1, ctx: f.ctx}, tstate: f.tstate}
	t.setOutputWriter()
	return func(out io.Writer, e corpusEntry) bool {
		f.fstate.deps.ResetCoverage()
		call(t, e.Values[0].([]byte))
		f.fstate.deps.SnapshotCoverage()
		if !t.failed {
			return true
		}
		out.Write(t.output)
		t.failed, t.output = false, nil
		return false
	}
}
`
