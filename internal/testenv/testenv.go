// Package testenv skips tests that this machine cannot run, and compares generated
// files with the committed ones. The reason of a skip is printed, so that a skipped
// test never counts as passed.
package testenv

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"sealab/internal/runfile"
)

// LogEnv is the environment variable with the path of a file. Skip adds a line
// to it for each skipped test: go test hides the output of passing packages, and
// make test prints this file at its end.
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

// SkipRace skips a test that is slow under the race detector. make matrices runs it without.
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

// Skip skips the test and prints the reason. The reason names the tool that is
// missing.
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

// appendLine adds a line to a file in one write, so that the lines of packages
// that are tested at the same time do not mix.
func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// EqualLines fails the test at the first line in which a committed text differs
// from the generated one. remedy names the command that writes it again.
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

// lineAt returns a line in quotation marks, or that the text has ended.
func lineAt(lines []string, i int) string {
	if i >= len(lines) {
		return "missing"
	}
	return fmt.Sprintf("%.200q", lines[i])
}

// Race reports whether this program was built with the race detector. It is five to
// twenty times slower then, and allocates more.
var Race = sync.OnceValue(func() bool { return runfile.BuildSetting("-race") == "true" })

// PureGo reports whether this program was built without assembly: with the tag
// purego, or for a machine other than amd64 and arm64. Some implementations allocate
// more then.
var PureGo = sync.OnceValue(func() bool {
	return slices.Contains(strings.Split(runfile.BuildSetting("-tags"), ","), "purego") || !slices.Contains([]string{"amd64", "arm64"}, runtime.GOARCH)
})

// Sample reports whether a test runs a deterministic sample of its matrix: under
// -short and under the race detector. make matrices runs the whole.
func Sample() bool { return testing.Short() || Race() }
