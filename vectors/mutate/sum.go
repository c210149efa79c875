package mutate

import (
	"fmt"
	"maps"
	"slices"
)

// A Summary sorts results.
type Summary struct {
	Guarded       int
	Open, Excused []Result // unguarded: for no known reason, and because no vector can tell
	Stale         []string // keys of Excuses that are of no unguarded check
}

// Sum sorts results by what Excuses knows.
func Sum(results []Result) *Summary {
	s := &Summary{}
	left := maps.Clone(Excuses)
	for _, r := range results {
		_, excused := Excuses[r.Key()]
		switch {
		case r.Guarded():
			s.Guarded++
		case excused:
			s.Excused = append(s.Excused, r)
			delete(left, r.Key())
		default:
			s.Open = append(s.Open, r)
		}
	}
	s.Stale = slices.Sorted(maps.Keys(left))
	return s
}

// String is one line.
func (s *Summary) String() string {
	all := s.Guarded + len(s.Open) + len(s.Excused)
	return fmt.Sprintf("%d checks: %d guarded by a vector, %d that no vector can tell, %d unguarded", all, s.Guarded, len(s.Excused), len(s.Open))
}
