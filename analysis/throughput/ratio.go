package throughput

import (
	"sealab/analysis/stats"
	"sealab/internal/runfile"
)

// A Relation is why two cells of one run are compared.
type Relation string

// The relations. Each ratio says how many times longer the cell takes than the
// one it is held against.
const (
	OverFloor  Relation = "floor"     // a design against the bare use of its primitive
	OverDesign Relation = "design"    // an amortised design against the plain one of its primitive
	OverOurs   Relation = "ours"      // a peer against the first design of its kind, a foreign subject against what it mirrors
	OverRing   Relation = "ring of 1" // a ring of many keys against a ring of one
	OverItself Relation = "itself"    // the same subject twice: noise
)

// A Ratio is one comparison of two cells.
type Ratio struct {
	Relation Relation
	Of, To   Place
	stats.Interval
}

// Ratios returns every comparison of the run, with intervals that hold together
// at Confidence.
func (r *Run) Ratios() ([]Ratio, error) {
	var all []Ratio
	for _, p := range r.places {
		for _, to := range r.comparable(p) {
			all = append(all, Ratio{Relation: to.Relation, Of: p, To: to.Place})
		}
	}
	each := stats.Joint(Confidence, len(all))
	for i := range all {
		interval, err := stats.Ratio(r.cells[all[i].Of].Ns, r.cells[all[i].To].Ns, each)
		if err != nil {
			return nil, err
		}
		all[i].Interval = interval
	}
	return all, nil
}

// against is a place that another is held against.
type against struct {
	Relation
	Place
}

// comparable returns the places of the run that p is held against.
func (r *Run) comparable(p Place) []against {
	var found []against
	hold := func(why Relation, to Place) {
		if r.cells[to] != nil {
			found = append(found, against{why, to})
		}
	}
	if p.Op == runfile.UnsealRing {
		hold(OverRing, Place{p.Subject, runfile.Unseal, p.Size})
		return found
	}
	if p.Op.Refuses() {
		return nil
	}
	s := r.named(p.Subject)
	for _, other := range r.Subjects {
		if why, ok := relation(*s, other); ok {
			hold(why, Place{other.Name, p.Op, p.Size})
		}
	}
	if s.Role == runfile.RolePeer {
		if ours := r.ours(s.Kind); ours != nil {
			hold(OverOurs, Place{ours.Name, p.Op, p.Size})
		}
	}
	return found
}

// relation returns why the cells of s are held against those of other, if they
// are.
func relation(s, other runfile.Subject) (Relation, bool) {
	sameWork := s.Primitive != "" && s.Primitive == other.Primitive
	switch {
	case s.Role == runfile.RoleRepeat:
		return OverItself, other.Name == s.Repeats
	case s.Role == runfile.RoleForeign:
		return OverOurs, other.Name == s.Mirrors
	case s.Role != runfile.RoleDesign || !sameWork:
		return "", false
	case other.Role == runfile.RoleFloor:
		return OverFloor, true
	case other.Role == runfile.RoleDesign:
		return OverDesign, s.Amortised && !other.Amortised
	}
	return "", false
}

// ours returns the design that peers of a kind are held against: the first of
// the catalog that is plain.
func (r *Run) ours(kind runfile.Kind) *runfile.Subject {
	return r.subject(func(s runfile.Subject) bool {
		return s.Role == runfile.RoleDesign && s.Kind == kind && s.Primitive != "" && !s.Amortised
	})
}
