package mutate

import (
	"fmt"
	"maps"
	"slices"
)

// A Summary sorts results.
type Summary struct {
	Guarded       int
	Open, Excused []Result // unguarded: without an excuse, and with one
	Stale         []string // keys of Excuses without an unguarded check
}

// Sum sorts results by Excuses.
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

// String returns the summary as one line.
func (s *Summary) String() string {
	all := s.Guarded + len(s.Open) + len(s.Excused)
	return fmt.Sprintf("%d checks: %d guarded by a vector, %d that no vector can tell, %d unguarded", all, s.Guarded, len(s.Excused), len(s.Open))
}
