// Package mutant disables single checks for mutation testing. Package vectors/mutate rewrites the source
// of one build so that every check that refuses input calls Refuses or Holds with its own number. Only
// that build and its program import this package.
//
// The package is not safe for concurrent use.
package mutant

// None enables every check.
const None = -1

var (
	off     = None
	refused map[int]bool
)

// Disable disables check n and enables all others.
func Disable(n int) { off = n }

// Refuses returns condition, under which check n refuses. It returns false if check n is disabled.
func Refuses(n int, condition bool) bool {
	note(n, condition)
	return condition && n != off
}

// Holds returns condition, under which check n accepts. It returns true if check n is disabled.
func Holds(n int, condition bool) bool {
	note(n, !condition)
	return condition || n == off
}

func note(n int, refuses bool) {
	if refuses && refused != nil {
		refused[n] = true
	}
}

// Refused runs f and returns the checks that refused input.
func Refused(f func()) map[int]bool {
	refused = map[int]bool{}
	defer func() { refused = nil }()
	f()
	return refused
}
