package timing

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/runfile"
	"sealab/internal/testenv"
	"sealab/internal/verdict"
)

const blocks = 10_000

// sampled returns all, or a third of it if tests run only a sample of the matrix. Under -short it
// returns a sixth.
func sampled(all int) int {
	if testing.Short() {
		return all / 6
	}
	if testenv.Sample() {
		return all / 3
	}
	return all
}

// judgeBoth judges two passes of one probe, each on its own machine.
func judgeBoth(t *testing.T, first, second *machine, n int) *Result {
	t.Helper()
	probe := runfile.Probe{Subject: t.Name(), Pair: "pair"}
	j, err := Judge([]*runfile.Samples{first.run(probe, 1, n), second.run(probe, 2, n)}, LimitLibrary, func(int) {})
	require.NoError(t, err)
	require.Len(t, j.Verdicts, 1)
	return j.Verdicts[0]
}

// TestKnownAnswers judges samples with known truth.
func TestKnownAnswers(t *testing.T) {
	testenv.SkipRace(t)
	for i, c := range []struct {
		name string
		make func(seed uint64) *machine
		want verdict.Outcome
	}{
		{"quiet", newMachine, verdict.NotRefuted},
		{"heavy tails and drift", func(s uint64) *machine { return newMachine(s).heavyTails() }, verdict.NotRefuted},
		{"correlated noise", func(s uint64) *machine { return newMachine(s).correlated() }, verdict.NotRefuted},
		{"2 ns", func(s uint64) *machine { return newMachine(s).shift(2) }, verdict.Refuted},
		{"2 ns under heavy tails and drift", func(s uint64) *machine { return newMachine(s).heavyTails().shift(2) }, verdict.Refuted},
		{"2 ns less", func(s uint64) *machine { return newMachine(s).shift(-2) }, verdict.Refuted},
		{"2 ns under correlated noise", func(s uint64) *machine { return newMachine(s).correlated().shift(2) }, verdict.Refuted},
		{"tail only", func(s uint64) *machine { return newMachine(s).tail(60) }, verdict.Refuted},
		{"a third of a nanosecond", func(s uint64) *machine { return newMachine(s).shift(0.3) }, verdict.NotRefuted},
	} {
		if testenv.Sample() && i%3 != 0 {
			continue // a third of the rows
		}
		t.Run(c.name, func(t *testing.T) {
			v := judgeBoth(t, c.make(1), c.make(2), blocks)
			require.Equal(t, c.want, v.Outcome, "%s: %+v", v.Why, v.First)
		})
	}
}

// TestOrderIsNoLeak adds a cost for the first sample that is much larger than the leak.
func TestOrderIsNoLeak(t *testing.T) {
	testenv.SkipSample(t)
	slow := func(seed uint64, ns float64) *machine {
		m := newMachine(seed).shift(ns)
		m.slot = 100
		return m
	}
	clean := judgeBoth(t, slow(1, 0), slow(2, 0), blocks)
	require.Equal(t, verdict.NotRefuted, clean.Outcome, clean.Why)
	require.InDelta(t, -100, clean.First.Slot, 2)
	leaky := judgeBoth(t, slow(3, 3), slow(4, 3), blocks)
	require.Equal(t, verdict.Refuted, leaky.Outcome, leaky.Why)
	require.InDelta(t, 3, leaky.First.Trimmed.Value, 0.7)
}

// TestSecondRunMustAgree checks that a second run with no difference, or the opposite one, confirms
// nothing.
func TestSecondRunMustAgree(t *testing.T) {
	testenv.SkipRace(t)
	for _, second := range []float64{0, -3} {
		v := judgeBoth(t, newMachine(1).shift(3), newMachine(2).shift(second), blocks)
		require.Equal(t, verdict.NotTested, v.Outcome, v.Why)
		require.False(t, v.Found)
	}
}

// TestRunsMustAgreeInSize judges effects with the same sign and different sizes in the two runs.
func TestRunsMustAgreeInSize(t *testing.T) {
	for i, c := range []struct {
		name          string
		first, second float64
		found         bool
		want          verdict.Outcome
	}{
		{"alike", 6, 7, true, verdict.Refuted},
		{"alike and negative", -7, -6, true, verdict.Refuted},
		{"as an allocation in two passes of a quiet run", 25.6, 9.7, true, verdict.Refuted},
		{"a fifth", 10, 2, false, verdict.NotTested},
		{"five times", 2, 10, false, verdict.NotTested},
		{"on both sides of the limit", 1.5, 0.8, true, verdict.NotTested},
	} {
		if testenv.Sample() && i%3 != 0 {
			continue // a third of the rows
		}
		t.Run(c.name, func(t *testing.T) {
			v := judgeBoth(t, newMachine(1).shift(c.first), newMachine(2).shift(c.second), 4000)
			require.Equal(t, c.want, v.Outcome, v.Why)
			require.Equal(t, c.found, v.Found, v.Why)
		})
	}
}

// TestAgreementOfPasses draws effects of two passes that shift as a whole. Without a leak, at most about
// three in ten may be confirmed, although half agree in sign. A leak must be confirmed even if its size
// varies as much as that of leaking controls on a busy machine.
func TestAgreementOfPasses(t *testing.T) {
	const trials = 4000
	m := newMachine(1)
	drawn := func(leak, deviation float64) Estimate {
		value := leak + deviation*m.random.NormFloat64()
		return Estimate{value, value - 0.2, value + 0.2}
	}
	confirmed, sameSign, leaks := 0, 0, 0
	for range trials {
		noise := effectPair{first: drawn(0, 20), second: drawn(0, 20)}
		confirmed += count(noise.confirmed())
		sameSign += count(noise.first.Value*noise.second.Value > 0)
		leaks += count(effectPair{first: drawn(20, 2), second: drawn(20, 2)}.confirmed())
	}
	require.InDelta(t, 0.5, float64(sameSign)/trials, 0.03)
	require.InDelta(t, 0.295, float64(confirmed)/trials, 0.03)
	require.Greater(t, float64(leaks)/trials, 0.99)
}

// TestSmallClusters judges clusters of two blocks: the median of two values must be their mean, so that
// noise has no direction.
func TestSmallClusters(t *testing.T) {
	for _, size := range []int{2, 3} {
		f := newMachine(uint64(size)).run(runfile.Probe{Subject: "slow"}, 1, 2000*size)
		f.Cluster = size
		s := measureFile(f)
		require.Greater(t, min(s.PSign, s.PWilcoxon), 1e-3, "clusters of %d", size)
		require.InDelta(t, 0, s.Trimmed.Value, 1, "clusters of %d", size)
	}
	require.Equal(t, 2.5, median([]float64{4, 1, 3, 2}))
	require.Equal(t, 2.0, median([]float64{3, 1, 2}))
}

// TestDependenceByHand uses noise in which each value keeps nine tenths of the previous one. Nineteen such
// values are worth one independent value.
func TestDependenceByHand(t *testing.T) {
	random := newMachine(1).random
	independent, dependent := make([]float64, blocks), make([]float64, blocks)
	for i := range blocks {
		independent[i] = random.NormFloat64()
		dependent[i] = independent[i] + 0.9*dependent[max(i-1, 0)]
	}
	require.InEpsilon(t, blocks, dependenceOf(independent).effective, 0.1)
	require.InEpsilon(t, blocks/19, dependenceOf(dependent).effective, 0.4)
	require.Greater(t, dependenceOf(dependent).length, 20)
}

// TestTooFewBlocks checks that a run with too few blocks is not tested, and that the
// reason gives the number of blocks that it needs.
func TestTooFewBlocks(t *testing.T) {
	v := judgeBoth(t, newMachine(1), newMachine(2), 60)
	require.Equal(t, verdict.NotTested, v.Outcome)
	require.Greater(t, v.Detectable, float64(DetectableAtMost))
	require.Contains(t, v.Why, "needs about")
}

// TestDetectableIsFound adds a leak of exactly the minimum detectable effect and counts how often it is
// found.
func TestDetectableIsFound(t *testing.T) {
	testenv.SkipRace(t)
	runs := sampled(30)
	detectable := judgeBoth(t, newMachine(0), newMachine(1), 1000).Detectable
	found := 0
	for seed := range uint64(runs) {
		v := judgeBoth(t, newMachine(seed).shift(detectable), newMachine(seed+1000).shift(detectable), 1000)
		found += count(v.Outcome == verdict.Refuted)
	}
	require.GreaterOrEqual(t, found, runs*8/10)
}

// TestAlikeIsUniform judges probes of classes that do not leak.
func TestAlikeIsUniform(t *testing.T) {
	testenv.SkipRace(t)
	var files []*runfile.Samples
	n := sampled(200)
	for i := range n {
		probe := runfile.Probe{Subject: fmt.Sprintf("alike-%03d", i), Pair: "same", Expect: runfile.Clean}
		files = append(files, newMachine(uint64(i)).heavyTails().run(probe, 1, 300),
			newMachine(uint64(i)+1e6).heavyTails().run(probe, 2, 300))
	}
	j, err := Judge(files, LimitLibrary, func(int) {})
	require.NoError(t, err)
	u := j.Controls.Uniform
	require.Equal(t, n, u.Values)
	require.Zero(t, u.Refuted)
	require.Greater(t, u.P, 0.001, "distance %g", u.Distance)
	require.False(t, j.Controls.Void(), j.Controls.Faults)
}

// TestUniformityRings checks that p-values that are too small by a third are detected.
func TestUniformityRings(t *testing.T) {
	var clean []*Result
	for i := range 200 {
		clean = append(clean, &Result{First: &Statistics{PWilcoxon: math.Pow(float64(i)/200, 1.5)}})
	}
	require.Less(t, testUniformity(clean).P, 0.001)
}

// TestIntervalHolds counts how often the interval contains the true value.
func TestIntervalHolds(t *testing.T) {
	testenv.SkipRace(t)
	runs := sampled(40)
	hits, medianHits := 0, 0
	for seed := range uint64(runs) {
		s := measureFile(newMachine(seed).correlated().shift(5).run(runfile.Probe{}, 1, 1500))
		hits += count(s.Trimmed.Low <= 5 && 5 <= s.Trimmed.High)
		medianHits += count(s.Median.Low <= 5 && 5 <= s.Median.High)
	}
	require.GreaterOrEqual(t, hits, runs*85/100)
	require.GreaterOrEqual(t, medianHits, runs*85/100)
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// TestClustersAreTheUnit gives each cluster its own offset, like keys at different addresses. Block by
// block this would look significant.
func TestClustersAreTheUnit(t *testing.T) {
	testenv.SkipSample(t)
	const size = 200
	clustered := func(seed uint64) *runfile.Samples {
		m := newMachine(seed)
		var offset float64
		n := 0
		m.leak = func() float64 {
			if n%size == 0 {
				offset = 15 * m.random.NormFloat64()
			}
			n++
			return offset
		}
		f := m.run(runfile.Probe{Subject: "keys"}, 1, 100*size)
		f.Cluster = size
		return f
	}
	for seed := range uint64(5) {
		s := measureFile(clustered(seed))
		require.Equal(t, 100, s.Values)
		require.Greater(t, min(s.PSign, s.PWilcoxon), 1e-3, "seed %d", seed)
	}
}
