package timing

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/runfile"
	"sealab/internal/testenv"
)

// rungs are the delays of a simulated ladder in nanoseconds.
var rungs = []float64{1, 2, 3, 5, 7, 10, 20, 50, 200}

// passNoise is the standard error of a simulated pass.
const passNoise = 0.05

// A simulation is a run simulated at the level of statistics, which takes microseconds.
type simulation struct {
	random *rand.Rand
	shift  func(*rand.Rand) float64 // of one pass
	all    []*Result
}

// newSimulation returns a run with a shifted ladder. Equal seeds give equal runs.
func newSimulation(seed uint64, shift func(*rand.Rand) float64) *simulation {
	s := &simulation{random: rand.New(rand.NewPCG(seed, 2)), shift: shift}
	for _, added := range rungs {
		s.add(runfile.Probe{Subject: fmt.Sprintf("delay-%gns", added), Expect: runfile.Leaks, Added: added}, added)
	}
	return s
}

// add appends a pair with a leak of the given size, shifted in each pass.
func (s *simulation) add(p runfile.Probe, size float64) {
	s.all = append(s.all, &Result{Probe: p, First: s.pass(size + s.shift(s.random)), Second: s.pass(size + s.shift(s.random))})
}

// pairs appends n pairs of a design.
func (s *simulation) pairs(n int, size float64) *simulation {
	for range n {
		s.add(runfile.Probe{Property: "steady-timing"}, size)
	}
	return s
}

// pass returns the statistics of a pass whose classes differ by size.
func (s *simulation) pass(size float64) *Statistics {
	value := size + passNoise*s.random.NormFloat64()
	e := Estimate{value, value - 1.96*passNoise, value + 1.96*passNoise}
	p := twoSided(value / passNoise)
	return &Statistics{
		Median: e, Trimmed: e, Sigma: passNoise, Effective: 1, PSign: p, PWilcoxon: p,
		Deciles: Deciles{Difference: make(Estimates, len(decileShares)), P: 1},
	}
}

func (s *simulation) judge() *Judgement {
	j := &Judgement{Limit: LimitLibrary, Verdicts: s.all}
	j.correct()
	j.decide()
	return j
}

// normal returns normally distributed shifts with standard deviation sigma.
func normal(sigma float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return sigma * r.NormFloat64() }
}

// twoStates shifts a share of the passes by -2.8 ns, like a loop whose end is predicted only in some
// states of the processor.
func twoStates(share float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.Float64() < share {
			return -2.8
		}
		return 0
	}
}

// TestShiftedMachines simulates runs of 200 pairs on machines whose passes shift: sound pairs, and leaks
// of one size in units of the minimum detectable effect. It shifts every pair, even if its classes run the
// same code, although such pairs hardly shift on a real machine.
func TestShiftedMachines(t *testing.T) {
	testenv.SkipRace(t)
	const runs, pairs = 30, 200
	sizes := []float64{0.5, 0.75, 1, 1.5, 4}
	for i, c := range []struct {
		name      string
		shift     func(*rand.Rand) float64
		least, at float64 // minimum and maximum share of void runs
	}{
		{"0 ns", normal(0), 0, 0},
		{"0.3 ns", normal(0.3), 0, 0.05},
		{"1 ns", normal(1), 0.05, 0.6},
		{"3 ns", normal(3), 0.95, 1},
		{"10 ns", normal(10), 1, 1},
		{"2.8 ns in half of the passes", twoStates(0.5), 0.9, 1},
		{"2.8 ns in one pass of six", twoStates(1. / 6), 0.8, 1},
	} {
		if testenv.Sample() && i%3 != 0 {
			continue // a third of the rows
		}
		t.Run(c.name, func(t *testing.T) {
			void, accused, accusing := 0, 0, 0
			found := make([]int, len(sizes))
			var floors, detectables []float64
			for seed := range uint64(runs) {
				j := newSimulation(seed, c.shift).pairs(pairs, 0).judge()
				void += count(j.Controls.Void())
				accused += len(j.Refuted())
				accusing += count(len(j.Refuted()) > 0 && !j.Controls.Void())
				floors, detectables = append(floors, j.Shift.Floor), append(detectables, j.Shift.Detectable)
				for k, size := range sizes {
					found[k] += len(newSimulation(seed, c.shift).pairs(pairs, size*j.Shift.Detectable).judge().Refuted())
				}
			}
			rates := ""
			for k, size := range sizes {
				rates += fmt.Sprintf(" %.3f at %g", float64(found[k])/(runs*pairs), size)
			}
			voids := float64(void) / runs
			t.Logf("floor %.2f ns, detectable %.2f ns (medians); %.2f of runs void; %d of %d sound pairs accused, in %d runs that are not void; found%s",
				median(floors), median(detectables), voids, accused, runs*pairs, accusing, rates)
			if voids < 0.8 {
				require.Zero(t, accused)
				require.GreaterOrEqual(t, found[2], runs*pairs*9/10)
			}
			require.GreaterOrEqual(t, voids, c.least)
			require.LessOrEqual(t, voids, c.at)
		})
	}
}

// TestRungsMustShow changes one rung of a quiet machine and checks the faults.
func TestRungsMustShow(t *testing.T) {
	for _, c := range []struct {
		name          string
		rung          int
		first, second float64
		want          string // contained in the faults; "" if there are none
	}{
		{"all show", 2, 3, 3, ""},
		{"the smallest may stay hidden", 0, 0, 0, ""},
		{"not in both passes", 3, 0, 0, "leaks and was not found"},
		{"not in the second pass", 3, 5, 0, "leaks and was not found"},
		{"of half the size", 4, 3.5, 3.6, "adds 7 ns and showed"},
		{"of twice the size", 7, 100, 101, "adds 50 ns and showed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSimulation(1, normal(0.1))
			rung := s.all[c.rung]
			rung.First, rung.Second = s.pass(c.first), s.pass(c.second)
			faults := s.judge().Controls.Faults
			if c.want == "" {
				require.Empty(t, faults)
				return
			}
			require.NotEmpty(t, faults)
			require.Contains(t, strings.Join(faults, "; "), c.want)
		})
	}
}

// TestScaleBound counts how often the bound contains the true value.
func TestScaleBound(t *testing.T) {
	const trials = 4000
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{5, 8, 12, 24} {
		holds := 0
		for range trials {
			x := make([]float64, n)
			for i := range x {
				x[i] = math.Abs(r.NormFloat64())
			}
			bound, confident := scaleBound(x)
			holds += count(bound >= 1)
			require.GreaterOrEqual(t, confident, confidenceLevel, "%d values", n)
		}
		require.GreaterOrEqual(t, float64(holds)/trials, confidenceLevel-0.01, "%d values", n)
	}
	few, confident := scaleBound([]float64{1, 2})
	require.InDelta(t, 2/0.6745, few, 0.001)
	require.Equal(t, 0.75, confident)
	_, confident = scaleBound(nil)
	require.Zero(t, confident)
}

// TestCommittedJudgementFollows recomputes the outcomes of the reference run from its statistics.
func TestCommittedJudgementFollows(t *testing.T) {
	runs, err := runfile.Newest(filepath.Join("..", "..", "results"), runfile.Timing, 1)
	require.NoError(t, err)
	again, err := Read(runs[0])
	require.NoError(t, err)
	want, err := Read(runs[0])
	require.NoError(t, err)
	again.decide()
	require.InEpsilon(t, want.Shift.Detectable, again.Shift.Detectable, 1e-4)
	require.Equal(t, want.Controls.Faults, again.Controls.Faults)
	for i, v := range want.Verdicts {
		require.Equal(t, v.Outcome, again.Verdicts[i].Outcome, v.Name())
		require.Equal(t, v.Found, again.Verdicts[i].Found, v.Name())
	}
}
