// Package mutant switches single checks off. Nothing imports it but source that
// package vectors/mutate has rewritten for one build, in which every check that
// refuses something is passed through Refuses or Holds under a number of its
// own, and the program that runs that build.
//
// It is not safe for concurrent use.
package mutant

// None is the number of no check.
const None = -1

var (
	off     = None
	reached map[int]bool
)

// Disable switches check n off, and every other on.
func Disable(n int) { off = n }

// Refuses passes on whether a condition refuses, and is never true for the
// check that is off.
func Refuses(n int, condition bool) bool {
	note(n)
	return condition && n != off
}

// Holds passes on whether a condition for acceptance holds, and is always true
// for the check that is off.
func Holds(n int, condition bool) bool {
	note(n)
	return condition || n == off
}

func note(n int) {
	if reached != nil {
		reached[n] = true
	}
}

// Reached runs f and returns the checks that it came to.
func Reached(f func()) map[int]bool {
	reached = map[int]bool{}
	defer func() { reached = nil }()
	f()
	return reached
}
