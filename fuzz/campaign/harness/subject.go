package harness

import "bytes"

// A Subject is a function that is fuzzed.
type Subject struct {
	Name  string
	Seeds [][]byte
	// Run returns nil where everything holds and an error that says what does not;
	// a panic is a finding as well.
	Run func(input []byte) error
	// Explicit returns an input that does what this one does and says all of it
	// itself, which one that draws from its own digest does not: change that and it
	// does something else. nil: every input is explicit.
	Explicit func(input []byte) []byte
}

// explicit returns an explicit input that does what this one does.
func (s Subject) explicit(input []byte) []byte {
	if s.Explicit == nil {
		return input
	}
	return s.Explicit(input)
}

func (s Subject) isExplicit(input []byte) bool { return bytes.Equal(s.explicit(input), input) }
