package harness

import "bytes"

// Shrink returns the smallest failing input that it can make of input: it cuts
// pieces out, sets bytes to zero, and cuts again. It calls fails at most tries
// times, and input itself must fail.
func Shrink(input []byte, tries int, fails func([]byte) bool) []byte {
	s := shrinker[byte]{best: bytes.Clone(input), tries: tries, fails: fails}
	s.cutAll()
	if zeroAll(&s) {
		s.cutAll()
	}
	return s.best
}

// zeroAll sets each byte to zero if the input still fails, and reports whether
// it changed one.
func zeroAll(s *shrinker[byte]) (progress bool) {
	for i, b := range s.best {
		if b == 0 || s.tries <= 0 {
			continue
		}
		candidate := bytes.Clone(s.best)
		candidate[i] = 0
		progress = s.try(candidate) || progress
	}
	return progress
}

// ShrinkList is Shrink for a list of inputs: it removes some of them.
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

// cutAll cuts until a round has no effect.
func (s *shrinker[E]) cutAll() {
	for progress := true; progress && s.tries > 0; {
		progress = s.cut()
	}
}

// cut removes pieces, large ones first, and reports whether it removed one.
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

// try makes candidate the best if it fails too.
func (s *shrinker[E]) try(candidate []E) bool {
	if s.tries--; !s.fails(candidate) {
		return false
	}
	s.best = candidate
	return true
}
