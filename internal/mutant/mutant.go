// Package mutant switches single checks off. Package vectors/mutate rewrites the
// source of one build, so that every check that refuses something calls Refuses or
// Holds under a number of its own. That build and its program are the only importers.
//
// It is not safe for concurrent use.
package mutant

// None leaves every check on.
const None = -1

var (
	off     = None
	refused map[int]bool
)

// Disable switches check n off, and every other on.
func Disable(n int) { off = n }

// Refuses passes on whether a condition refuses, and is never true for the
// check that is off.
func Refuses(n int, condition bool) bool {
	note(n, condition)
	return condition && n != off
}

// Holds passes on whether a condition for acceptance holds, and is always true
// for the check that is off.
func Holds(n int, condition bool) bool {
	note(n, !condition)
	return condition || n == off
}

func note(n int, refuses bool) {
	if refuses && refused != nil {
		refused[n] = true
	}
}

// Refused runs f and returns the checks that refused something.
func Refused(f func()) map[int]bool {
	refused = map[int]bool{}
	defer func() { refused = nil }()
	f()
	return refused
}
