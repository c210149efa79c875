package throughput

import (
	"slices"

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

// A Bar is a limit on one kind of ratio that designs are held to.
type Bar struct {
	Relation Relation
	Op       runfile.Op   // empty: every operation of the relation
	Kind     runfile.Kind // empty: every kind
	// Limit is the bar at a payload size. A ratio has to be at most that, or,
	// where AtLeast is set, at least that.
	Limit   func(size int) float64
	AtLeast bool
}

// bars are what the designs are held to. A floor is a few operations on small
// payloads, so that a prefix and a key-id weigh more there.
var bars = []Bar{
	{Relation: OverFloor, Op: runfile.Seal, Limit: stepped(1.35, 1.15)},
	{Relation: OverFloor, Op: runfile.Unseal, Limit: stepped(1.6, 1.35)},
	{Relation: OverDesign, Limit: always(1.5)},
	{Relation: OverRing, Limit: always(1.2)},
	{Relation: OverOurs, Kind: runfile.Encrypts, Limit: always(5), AtLeast: true},
	{Relation: OverOurs, Kind: runfile.Signs, Limit: always(3), AtLeast: true},
}

func always(limit float64) func(int) float64 { return func(int) float64 { return limit } }

// stepped returns small below 1 KiB and large from there on.
func stepped(small, large float64) func(int) float64 {
	return func(size int) float64 {
		if size < 1<<10 {
			return small
		}
		return large
	}
}

// A Verdict is one ratio held to its bar.
type Verdict struct {
	Ratio
	Bar   Bar
	Limit float64
}

// Reached reports whether the estimate keeps the bar.
func (v Verdict) Reached() bool {
	if v.Bar.AtLeast {
		return v.Point >= v.Limit
	}
	return v.Point <= v.Limit
}

// Sure reports whether the whole interval lies on the estimate's side of the bar.
func (v Verdict) Sure() bool { return v.Excludes(v.Limit) }

// Short returns the share of the limit by which the bar is missed.
func (v Verdict) Short() float64 {
	if v.Bar.AtLeast {
		return 1 - v.Point/v.Limit
	}
	return v.Point/v.Limit - 1
}

// Verdicts holds the ratios to the bars. Of the peers, which are Go libraries,
// only the fastest of each place counts. Amortised designs are held to the plain
// design of their primitive and not to its floor.
func (r *Run) Verdicts(ratios []Ratio) []Verdict {
	var all []Verdict
	for _, bar := range bars {
		for _, ratio := range ratios {
			if r.applies(bar, ratio) {
				all = append(all, Verdict{ratio, bar, bar.Limit(ratio.Of.Size)})
			}
		}
	}
	return fastestPeers(all)
}

func (r *Run) applies(bar Bar, ratio Ratio) bool {
	of := r.named(ratio.Of.Subject)
	return bar.Relation == ratio.Relation &&
		(bar.Op == "" || bar.Op == ratio.Of.Op) &&
		(bar.Kind == "" || bar.Kind == of.Kind) &&
		(of.Role == runfile.RoleDesign || of.Role == runfile.RolePeer) &&
		!(bar.Relation == OverFloor && of.Amortised)
}

// fastestPeers leaves out of the verdicts on peers all but the fastest at each
// place.
func fastestPeers(all []Verdict) []Verdict {
	least := map[Place]float64{}
	for _, v := range all {
		if best, ok := least[v.To]; v.Relation == OverOurs && (!ok || v.Point < best) {
			least[v.To] = v.Point
		}
	}
	return slices.DeleteFunc(all, func(v Verdict) bool {
		return v.Relation == OverOurs && v.Point > least[v.To]
	})
}

// Allocating returns the places at which a design that has a primitive
// allocates to seal or to unseal. The bar is that there is no such place.
func (r *Run) Allocating() []Place {
	var places []Place
	for _, p := range r.places {
		s := r.named(p.Subject)
		if s.Role == runfile.RoleDesign && s.Primitive != "" && !p.Op.Refuses() && r.cells[p].Allocs > 0 {
			places = append(places, p)
		}
	}
	return places
}

// Noise returns the largest difference between a subject and itself, as a share
// (0.01 for 1 %), and the number of cells it was taken from. Without a repeated
// subject it is 0 of 0.
func Noise(ratios []Ratio) (share float64, cells int) {
	for _, ratio := range ratios {
		if ratio.Relation == OverItself {
			share = max(share, distance(ratio.Interval))
			cells++
		}
	}
	return share, cells
}

// distance returns how far an estimate is from 1, the same for x and 1/x.
func distance(i stats.Interval) float64 { return max(i.Point, 1/i.Point) - 1 }
