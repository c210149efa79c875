package throughput

import (
	"fmt"
	"slices"

	"sealab/analysis/stats"
	"sealab/internal/runfile"
)

// A Ratio is one comparison of two cells.
type Ratio struct {
	Relation runfile.Relation
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
	runfile.Relation
	Place
}

// comparable returns the places of the run to compare p with.
func (r *Run) comparable(p Place) []against {
	var all []against
	switch {
	case p.Op == runfile.UnsealRing:
		all = append(all, against{runfile.OverRing, Place{p.Subject, runfile.Unseal, p.Size}})
	case !p.Op.Refuses():
		for _, to := range runfile.Compared(r.Subjects, *r.named(p.Subject)) {
			all = append(all, against{to.Relation, Place{to.Name, p.Op, p.Size}})
		}
	}
	return slices.DeleteFunc(all, func(to against) bool { return r.cells[to.Place] == nil })
}

// A Threshold is a limit on one kind of ratio of designs.
type Threshold struct {
	Relation runfile.Relation
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
	{Relation: runfile.OverBaseline, Op: runfile.Seal, Below1K: 1.35, Limit: 1.15},
	{Relation: runfile.OverBaseline, Op: runfile.Unseal, Below1K: 1.6, Limit: 1.35},
	{Relation: runfile.OverDesign, Below1K: 1.5, Limit: 1.5},
	{Relation: runfile.OverRing, Below1K: 1.2, Limit: 1.2},
	{Relation: runfile.OverBaseline, Claims: true, Below1K: 1.5, Limit: 1.5},
	{Relation: runfile.OverCodec, Claims: true, Below1K: 6, Limit: 3},
	{Relation: runfile.OverOurs, Claims: true, Below1K: 5, Limit: 5, AtLeast: true},
	{Relation: runfile.OverOurs, Kind: runfile.Encrypts, Below1K: 5, Limit: 5, AtLeast: true},
	{Relation: runfile.OverOurs, Kind: runfile.Signs, Below1K: 3, Limit: 3, AtLeast: true},
	{Relation: runfile.OverOurs, SDK: true, AtLeast: true},
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
		!(t.Relation == runfile.OverBaseline && of.Amortized) &&
		!(t.Relation == runfile.OverRing && of.Primitive == "") // a third-party format may have no key ID
}

// ofLibrary reports whether the check is of a Go library.
func (c Check) ofLibrary() bool { return c.Ratio.Relation == runfile.OverOurs && !c.SDK }

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
		if ratio.Relation == runfile.OverItself {
			share = max(share, distance(ratio.Interval))
			cells++
		}
	}
	return share, cells
}

// distance returns how far an estimate is from 1. It is equal for x and 1/x.
func distance(i stats.Interval) float64 { return max(i.Point, 1/i.Point) - 1 }
