package mutate

import "fmt"

// A Summary sorts results.
type Summary struct {
	Guarded       int
	Open, Excused []Result // unguarded: without a mark, and with one
	Stale         []*Mark  // every check of their line is guarded
}

// Sum sorts results by the marks of their checks.
func Sum(results []Result) *Summary {
	s := &Summary{}
	needed := map[*Mark]bool{}
	for _, r := range results {
		switch {
		case r.Guarded():
			s.Guarded++
		case r.Mark != nil:
			s.Excused = append(s.Excused, r)
			needed[r.Mark] = true
		default:
			s.Open = append(s.Open, r)
		}
	}
	for _, r := range results {
		if r.Mark != nil && !needed[r.Mark] {
			s.Stale = append(s.Stale, r.Mark)
			needed[r.Mark] = true // list it once
		}
	}
	return s
}

// String returns the summary as one line.
func (s *Summary) String() string {
	all := s.Guarded + len(s.Open) + len(s.Excused)
	return fmt.Sprintf("%d checks: %d guarded by a vector, %d that no vector can tell, %d unguarded", all, s.Guarded, len(s.Excused), len(s.Open))
}
