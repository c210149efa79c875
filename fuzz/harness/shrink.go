package harness

import "bytes"

// Shrink returns the smallest input it can make of input that still fails, by
// cutting pieces out and then turning bytes into zeros. It asks fails at most
// tries times, and input itself must fail.
func Shrink(input []byte, tries int, fails func([]byte) bool) []byte {
	s := shrinker[byte]{best: bytes.Clone(input), tries: tries, fails: fails}
	s.cutAll()
	for i := range s.best {
		if s.best[i] == 0 || s.tries <= 0 {
			continue
		}
		candidate := bytes.Clone(s.best)
		candidate[i] = 0
		s.try(candidate)
	}
	return s.best
}

// ShrinkList is Shrink for a list of inputs, of which it leaves out some.
func ShrinkList(inputs [][]byte, tries int, fails func([][]byte) bool) [][]byte {
	s := shrinker[[]byte]{best: inputs, tries: tries, fails: fails}
	s.cutAll()
	return s.best
}

type shrinker[E any] struct {
	best  []E
	tries int
	fails func([]E) bool
}

// cutAll cuts until nothing more can go.
func (s *shrinker[E]) cutAll() {
	for progress := true; progress && s.tries > 0; {
		progress = s.cut()
	}
}

// cut leaves out pieces, large ones first, and reports whether any could go.
func (s *shrinker[E]) cut() bool {
	before := len(s.best)
	for size := max(1, len(s.best)); size > 0; size /= 2 {
		for at := 0; at+size <= len(s.best) && s.tries > 0; {
			if !s.try(append(s.best[:at:at], s.best[at+size:]...)) {
				at += size
			}
		}
	}
	return len(s.best) < before
}

// try makes candidate the best where it fails too.
func (s *shrinker[E]) try(candidate []E) bool {
	if s.tries--; !s.fails(candidate) {
		return false
	}
	s.best = candidate
	return true
}
