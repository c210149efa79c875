package campaign

import "math"

// A schedule shares the cores among targets by what still finds new coverage.
//
// Each target has a clock that runs slower the more the target found lately,
// and the target whose clock is furthest behind runs next (stride scheduling).
// So a target that finds nothing for days still runs, up to maxWeight times
// less than one that finds much.
type schedule struct {
	shares []*share
}

type share struct {
	target  Target
	clock   float64 // seconds run, divided by the weight they were run with
	recent  float64 // what the last slices found, the older the less
	rate    float64 // executions a second; 0 before the first slice
	running bool
}

const (
	maxWeight = 5
	forget    = 0.5 // of what was found, from slice to slice
	muchFound = 64  // new inputs in recent slices that give the full weight
)

func newSchedule(targets []Target) *schedule {
	s := &schedule{}
	for _, t := range targets {
		s.shares = append(s.shares, &share{target: t, recent: muchFound}) // unknown counts as finding much
	}
	return s
}

// next returns the target to run next, marked as running, or nil when all run.
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

// ran says what a slice of the share did.
func (sh *share) ran(seconds float64, executions int64, found int) {
	sh.running = false
	sh.clock += max(seconds, 0.1) / sh.weight()
	sh.recent = sh.recent*forget + float64(found)
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

// executions is how many take about the given time.
func (sh *share) executions(seconds float64) int64 {
	if sh.rate == 0 {
		return firstSlice
	}
	return min(maxSlice, max(minSlice, int64(sh.rate*seconds)))
}
