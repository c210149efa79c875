// Package unexercised marks what a test could not run, so that it is printed
// and never counted as passed in silence.
package unexercised

import "fmt"

// T is the part of testing.TB that Skip needs.
type T interface {
	Helper()
	Name() string
	Skip(args ...any)
}

// Skip ends the test and prints that what it was to show is unexercised, and
// why. The line goes to standard output as well, so that it is seen without -v.
func Skip(t T, format string, args ...any) {
	t.Helper()
	reason := fmt.Sprintf(format, args...)
	fmt.Printf("unexercised: %s: %s\n", t.Name(), reason)
	t.Skip("unexercised: " + reason)
}
