package throughput

import (
	"slices"

	"sealab/analysis/stats"
	"sealab/internal/runfile"
)

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
