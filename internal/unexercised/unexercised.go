// Package unexercised marks what a test could not run, so that it is printed
// and never counted as passed in silence.
package unexercised

import (
	"fmt"
	"os"
)

// LogEnv names the environment variable that names a file to which Skip adds a
// line for everything that could not run. go test does not show what a passing
// package prints; make test shows this file at its end.
const LogEnv = "SEALAB_UNEXERCISED"

// T is the part of testing.TB that Skip needs.
type T interface {
	Helper()
	Name() string
	Skip(args ...any)
	Fatalf(format string, args ...any)
}

// Skip ends the test and prints that what it was to show is unexercised, and
// why.
func Skip(t T, format string, args ...any) {
	t.Helper()
	line := fmt.Sprintf("unexercised: %s: %s", t.Name(), fmt.Sprintf(format, args...))
	fmt.Println(line)
	if path := os.Getenv(LogEnv); path != "" {
		if err := appendLine(path, line); err != nil {
			t.Fatalf("sealab: %v", err)
		}
	}
	t.Skip(line)
}

// appendLine adds a line to a file in one write, so that packages that are
// tested at the same time do not mix theirs.
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
