package campaign

import "math"

// A schedule divides the cores among targets by new coverage (stride
// scheduling): each target has a clock, and the one with the lowest clock runs
// next. A clock runs slower if its target found much lately. A target without new
// coverage for days still runs, at most maxWeight times less than the best one.
type schedule struct {
	shares []*share
}

type share struct {
	target  Target
	clock   float64 // seconds run, each divided by the weight at its time
	recent  float64 // new inputs of the last slices, decayed
	rate    float64 // executions a second; 0 before the first slice
	running bool
}

const (
	maxWeight = 5
	decay     = 0.5 // of recent, from slice to slice
	muchFound = 64  // recent new inputs that give the full weight
)

func newSchedule(targets []Target) *schedule {
	s := &schedule{}
	for _, t := range targets {
		s.shares = append(s.shares, &share{target: t, recent: muchFound}) // unknown counts as much
	}
	return s
}

// next returns the target to run next and marks it as running, or returns nil if
// all run.
func (s *schedule) next() *share {
	var next *share
	for _, candidate := range s.shares {
		if !candidate.running && (next == nil || candidate.clock < next.clock) {
			next = candidate
		}
	}
	if next != nil {
		next.running = true
	}
	return next
}

// ran adds the result of a slice.
func (sh *share) ran(seconds float64, executions int64, found int) {
	sh.running = false
	sh.clock += max(seconds, 0.1) / sh.weight()
	sh.recent = sh.recent*decay + float64(found)
	if seconds > 0 && executions > 0 {
		sh.rate = float64(executions) / seconds
	}
}

// weight is from 1 to maxWeight.
func (sh *share) weight() float64 {
	return 1 + (maxWeight-1)*min(1, math.Log2(1+sh.recent)/math.Log2(1+muchFound))
}

// The bounds of a slice, in executions.
const (
	firstSlice = 20_000
	minSlice   = 1_000
	maxSlice   = 50_000_000
)

// executions returns how many executions take about the given time.
func (sh *share) executions(seconds float64) int64 {
	if sh.rate == 0 {
		return firstSlice
	}
	return min(maxSlice, max(minSlice, int64(sh.rate*seconds)))
}
