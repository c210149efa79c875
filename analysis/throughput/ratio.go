package throughput

import (
	"fmt"
	"slices"

	"sealab/analysis/stats"
	"sealab/internal/runfile"
)

// A Relation is the reason why two cells of one run are compared.
type Relation string

// The relations. A ratio is the time of a cell divided by the time of the other cell.
const (
	OverBaseline Relation = "baseline"  // a design to the bare use of its primitive
	OverDesign   Relation = "design"    // an amortized design to the plain design of its primitive
	OverCodec    Relation = "codec"     // a scheme to its codec, or to the first plain design of its primitive
	OverOurs     Relation = "ours"      // a library to the first design of its kind, with claims if it has them; an SDK to the design that mirrors it
	OverRing     Relation = "ring of 1" // a ring of many keys to a ring of one
	OverItself   Relation = "itself"    // a subject to its repetition: noise
)

// A Ratio is one comparison of two cells.
type Ratio struct {
	Relation Relation
	Of, To   Place
	stats.Interval
}

// Ratios returns every comparison of the run. Its intervals hold together at confidence.
func (r *Run) Ratios() ([]Ratio, error) {
	var all []Ratio
	for _, p := range r.places {
		for _, to := range r.comparable(p) {
			all = append(all, Ratio{Relation: to.Relation, Of: p, To: to.Place})
		}
	}
	each := stats.Joint(confidence, len(all))
	for i := range all {
		interval, err := stats.Ratio(r.cells[all[i].Of].Ns, r.cells[all[i].To].Ns, each)
		if err != nil {
			return nil, err
		}
		all[i].Interval = interval
	}
	return all, nil
}

// against is a place to compare with, and the reason.
type against struct {
	Relation
	Place
}

// comparable returns the places of the run to compare p with.
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
	if s.Role == runfile.RoleLibrary {
		if ours := r.ours(s.Kind, s.Claims); ours != nil {
			hold(OverOurs, Place{ours.Name, p.Op, p.Size})
		}
	}
	if s.Role == runfile.RoleScheme {
		if codec := r.codecOf(s); codec != nil {
			hold(OverCodec, Place{codec.Name, p.Op, p.Size})
		}
	}
	return found
}

// relation returns the reason for comparing the cells of s with those of other. It reports false if they
// are not compared.
func relation(s, other runfile.Subject) (Relation, bool) {
	sameWork := s.Primitive != "" && s.Primitive == other.Primitive
	switch {
	case s.Role == runfile.RoleRepeat:
		return OverItself, other.Name == s.Repeats
	case s.Role == runfile.RoleSDK:
		return OverOurs, other.Name == s.Mirrors
	case s.Role != runfile.RoleDesign && s.Role != runfile.RoleScheme || !sameWork:
		return "", false
	case other.Role == runfile.RoleBaseline:
		return OverBaseline, other.Claims == (s.Role == runfile.RoleScheme) && (other.Over == "") == (s.Over == "")
	case s.Role == runfile.RoleDesign && other.Role == runfile.RoleDesign:
		return OverDesign, s.Amortized && !other.Amortized
	}
	return "", false
}

// ours returns the design to compare libraries of a kind with: the first plain codec of the catalog, or a
// scheme with claims over it.
func (r *Run) ours(kind runfile.Kind, claims bool) *runfile.Subject {
	plain := r.subject(func(s runfile.Subject) bool {
		return s.Role == runfile.RoleDesign && s.Kind == kind && s.Primitive != "" && !s.Amortized
	})
	if plain == nil || !claims {
		return plain
	}
	return r.subject(func(s runfile.Subject) bool { return s.Role == runfile.RoleScheme && s.Over == plain.Name })
}

// codecOf returns the codec under a scheme. For a scheme with its own format it returns the first plain
// design with the same primitive.
func (r *Run) codecOf(scheme *runfile.Subject) *runfile.Subject {
	return r.subject(func(s runfile.Subject) bool {
		if scheme.Over != "" {
			return s.Name == scheme.Over
		}
		return s.Role == runfile.RoleDesign && scheme.Primitive != "" && s.Primitive == scheme.Primitive && !s.Amortized
	})
}

// A Threshold is a limit on one kind of ratio of designs.
type Threshold struct {
	Relation Relation
	Op       runfile.Op   // empty: every operation of the relation
	Kind     runfile.Kind // empty: every kind
	Claims   bool         // only schemes, and libraries that carry claims
	SDK      bool         // only SDKs; the limit is the subject's own
	// Below1K is the limit for payloads below 1 KiB, and Limit for larger ones. A ratio must be at most
	// the limit, or at least the limit if AtLeast is set.
	Below1K, Limit float64
	AtLeast        bool
}

// thresholds apply to every design. A baseline takes few operations on small payloads, so a prefix and a
// key ID weigh more there.
var thresholds = []Threshold{
	{Relation: OverBaseline, Op: runfile.Seal, Below1K: 1.35, Limit: 1.15},
	{Relation: OverBaseline, Op: runfile.Unseal, Below1K: 1.6, Limit: 1.35},
	{Relation: OverDesign, Below1K: 1.5, Limit: 1.5},
	{Relation: OverRing, Below1K: 1.2, Limit: 1.2},
	{Relation: OverBaseline, Claims: true, Below1K: 1.5, Limit: 1.5},
	{Relation: OverCodec, Claims: true, Below1K: 6, Limit: 3},
	{Relation: OverOurs, Claims: true, Below1K: 5, Limit: 5, AtLeast: true},
	{Relation: OverOurs, Kind: runfile.Encrypts, Below1K: 5, Limit: 5, AtLeast: true},
	{Relation: OverOurs, Kind: runfile.Signs, Below1K: 3, Limit: 3, AtLeast: true},
	{Relation: OverOurs, SDK: true, AtLeast: true},
}

// at returns the limit for a payload size.
func (t Threshold) at(size int) float64 {
	if size < 1<<10 {
		return t.Below1K
	}
	return t.Limit
}

// String returns the threshold as text for reports.
func (t Threshold) String() string {
	if t.Below1K != t.Limit {
		return fmt.Sprintf("%s %g below 1 KiB, then %g", t.side(), t.Below1K, t.Limit)
	}
	return fmt.Sprintf("%s %g", t.side(), t.Limit)
}

// side returns on which side of the threshold a ratio must lie.
func (t Threshold) side() string {
	if t.AtLeast {
		return "at least"
	}
	return "at most"
}

// A Check is one ratio with its threshold.
type Check struct {
	Ratio
	Threshold
	Limit float64
}

// Reached reports whether the estimate meets the threshold.
func (c Check) Reached() bool {
	if c.AtLeast {
		return c.Point >= c.Limit
	}
	return c.Point <= c.Limit
}

// Sure reports whether the whole interval is on the estimate's side of the threshold.
func (c Check) Sure() bool { return c.Excludes(c.Limit) }

// Short returns the share of the limit by which the threshold is missed.
func (c Check) Short() float64 {
	if c.AtLeast {
		return 1 - c.Point/c.Limit
	}
	return c.Point/c.Limit - 1
}

// Checks compares the ratios with their thresholds. At each place, only the fastest Go library counts. An
// amortized design is compared with the plain design of its primitive instead of its baseline.
func (r *Run) Checks(ratios []Ratio) []Check {
	var all []Check
	for _, threshold := range thresholds {
		for _, ratio := range ratios {
			if r.applies(threshold, ratio) {
				if threshold.SDK {
					slower := float64(r.named(ratio.Of.Subject).Slower)
					threshold.Below1K, threshold.Limit = slower, slower
				}
				all = append(all, Check{ratio, threshold, threshold.at(ratio.Of.Size)})
			}
		}
	}
	return fastestLibraries(all)
}

func (r *Run) applies(t Threshold, ratio Ratio) bool {
	of := r.named(ratio.Of.Subject)
	return t.Relation == ratio.Relation &&
		(t.Op == "" || t.Op == ratio.Of.Op) &&
		(t.Kind == "" || t.Kind == of.Kind) &&
		t.Claims == (of.Claims || of.Role == runfile.RoleScheme) &&
		t.SDK == (of.Role == runfile.RoleSDK) && (!t.SDK || of.Slower > 0) &&
		!(t.Relation == OverBaseline && of.Amortized) &&
		!(t.Relation == OverRing && of.Primitive == "") // a third-party format may have no key ID
}

// ofLibrary reports whether the check is of a Go library.
func (c Check) ofLibrary() bool { return c.Ratio.Relation == OverOurs && !c.SDK }

// fastestLibraries keeps only the fastest library at each place.
func fastestLibraries(all []Check) []Check {
	least := map[Place]float64{}
	for _, c := range all {
		if best, ok := least[c.To]; c.ofLibrary() && (!ok || c.Point < best) {
			least[c.To] = c.Point
		}
	}
	return slices.DeleteFunc(all, func(c Check) bool { return c.ofLibrary() && c.Point > least[c.To] })
}

// Allocating returns the places at which sealing or unsealing allocates without a stated reason. It covers
// schemes, and designs with a primitive. The threshold is that there are none.
func (r *Run) Allocating() []Place {
	var places []Place
	for _, p := range r.places {
		s := r.named(p.Subject)
		held := s.Role == runfile.RoleScheme || s.Role == runfile.RoleDesign && s.Primitive != ""
		if held && !s.Allocates && !p.Op.Refuses() && r.cells[p].Allocs > 0 {
			places = append(places, p)
		}
	}
	return places
}

// Noise returns the largest difference between a subject and its repetition, as a share (0.01 for 1 %),
// and the number of cells compared. Without a repeated subject both are 0.
func Noise(ratios []Ratio) (share float64, cells int) {
	for _, ratio := range ratios {
		if ratio.Relation == OverItself {
			share = max(share, distance(ratio.Interval))
			cells++
		}
	}
	return share, cells
}

// distance returns how far an estimate is from 1. It is equal for x and 1/x.
func distance(i stats.Interval) float64 { return max(i.Point, 1/i.Point) - 1 }
