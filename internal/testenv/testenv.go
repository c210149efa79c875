// Package testenv skips tests that this machine cannot run, and compares generated files with the
// committed ones. Skip prints the reason, so that a skipped test never counts as passed.
package testenv

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"sealab/internal/runfile"
)

// LogEnv is the environment variable with the path of a log file. Skip adds a line to it for each skipped
// test. go test hides the output of passing packages, so make test prints this file at the end.
const LogEnv = "SEALAB_SKIPPED"

// T is the part of testing.TB that this package needs.
type T interface {
	Helper()
	Name() string
	Skip(args ...any)
	Fatalf(format string, args ...any)
}

// SkipShort skips a slow test under -short. make test runs it.
func SkipShort(t T) {
	t.Helper()
	if testing.Short() {
		Skip(t, "-short leaves it out; make test runs it")
	}
}

// SkipRace skips a test that is too slow under the race detector. make matrices runs it without the
// detector.
func SkipRace(t T) {
	t.Helper()
	if Race() {
		Skip(t, "the race detector is slow; make matrices runs it")
	}
}

// SkipSample skips a slow test under -short and under the race detector. make
// matrices runs it.
func SkipSample(t T) {
	t.Helper()
	if Sample() {
		Skip(t, "-short and the race detector leave it out; make matrices runs it")
	}
}

// Skip skips the test and prints the reason, which names the missing tool.
func Skip(t T, format string, args ...any) {
	t.Helper()
	line := fmt.Sprintf("skipped: %s: %s", t.Name(), fmt.Sprintf(format, args...))
	fmt.Println(line)
	if path := os.Getenv(LogEnv); path != "" {
		if err := appendLine(path, line); err != nil {
			t.Fatalf("logging a skipped test: %v", err)
		}
	}
	t.Skip(line)
}

// appendLine adds a line to a file in one write, so that lines of packages tested in parallel do not mix.
func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// EqualLines fails the test at the first line that differs between the committed and the generated text.
// remedy names the command that regenerates the text.
func EqualLines(t T, generated, committed, remedy string) {
	t.Helper()
	want, got := strings.Split(generated, "\n"), strings.Split(committed, "\n")
	for i := range max(len(want), len(got)) {
		if w, g := lineAt(want, i), lineAt(got, i); w != g {
			t.Fatalf("line %d is %s, want %s: %s", i+1, g, w, remedy)
			return
		}
	}
}

// lineAt returns line i quoted, or "missing" after the end of the text.
func lineAt(lines []string, i int) string {
	if i >= len(lines) {
		return "missing"
	}
	return fmt.Sprintf("%.200q", lines[i])
}

// Race reports whether this program was built with the race detector, which makes it five to twenty times
// slower and makes it allocate more.
var Race = sync.OnceValue(func() bool { return runfile.BuildSetting("-race") == "true" })

// PureGo reports whether this program was built without assembly: with the tag purego, or for a machine
// other than amd64 and arm64. Some implementations then allocate more.
var PureGo = sync.OnceValue(func() bool {
	return slices.Contains(strings.Split(runfile.BuildSetting("-tags"), ","), "purego") || !slices.Contains([]string{"amd64", "arm64"}, runtime.GOARCH)
})

// Sample reports whether a test should run only a deterministic sample of its matrix: under -short and
// under the race detector. make matrices runs the whole matrix.
func Sample() bool { return testing.Short() || Race() }
