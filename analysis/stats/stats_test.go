package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/analysis/stats"
	"sealab/internal/testenv"
)

// The simulated machine. Each round has its own speed, each cell a noise of 1 %, and occasionally an
// interrupt prolongs one cell by up to half.
const (
	rounds    = 16
	drift     = 0.10
	noise     = 0.01
	interrupt = 0.03
)

// simulate returns rounds of two cells whose true times are 1 and factor.
func simulate(random *rand.Rand, factor float64) (a, b []float64) {
	for range rounds {
		speed := 1 + drift*random.Float64()
		a = append(a, speed*factor*cell(random))
		b = append(b, speed*cell(random))
	}
	return a, b
}

func cell(random *rand.Rand) float64 {
	x := math.Exp(noise * random.NormFloat64())
	if random.Float64() < interrupt {
		x *= 1 + random.Float64()/2
	}
	return x
}

// differing returns in how many of 100 runs some ratio differs from 1. Each run has the given number of
// pairs and the joint confidence of reports, 99 %.
func differing(t *testing.T, seed uint64, pairs int, factor float64) int {
	t.Helper()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	runs := 0
	for range 100 {
		differs := false
		for range pairs {
			a, b := simulate(random, factor)
			ratio, err := stats.Ratio(a, b, stats.Joint(0.99, pairs))
			require.NoError(t, err)
			differs = differs || ratio.Excludes(1)
		}
		if differs {
			runs++
		}
	}
	return runs
}

func TestTwiceTheSameDoesNotDiffer(t *testing.T) {
	testenv.SkipRace(t)
	seeds := uint64(5)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		for _, pairs := range []int{1, 8, 100} {
			require.LessOrEqual(t, differing(t, seed, pairs, 1), 5, "%d pairs", pairs)
		}
	}
}

func TestThreePercentAreFound(t *testing.T) {
	for seed := range uint64(5) {
		for _, pairs := range []int{1, 8} {
			require.GreaterOrEqual(t, differing(t, seed, pairs, 1.03), 95, "%d pairs", pairs)
		}
	}
}

// TestIntervalsCover checks that 95 % intervals contain the true ratio about as often as they should, for
// a ratio other than 1.
func TestIntervalsCover(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	held := 0
	for range 2000 {
		a, b := simulate(random, 4)
		ratio, err := stats.Ratio(a, b, 0.95)
		require.NoError(t, err)
		if !ratio.Excludes(4) {
			held++
		}
	}
	require.Greater(t, held, 1860)
}

func TestRatioOfKnownValues(t *testing.T) {
	ratio, err := stats.Ratio([]float64{2, 2, 2}, []float64{1, 1, 1}, 0.95)
	require.NoError(t, err)
	require.InDelta(t, 2, ratio.Point, 1e-12)
	require.InDelta(t, 2, ratio.Lo, 1e-12)

	// Logarithms -1, 0, 1: mean 0, standard error 1/sqrt(3), t(0.975, 2) = 4.3027.
	ratio, err = stats.Ratio([]float64{math.Exp(-1), 1, math.E}, []float64{1, 1, 1}, 0.95)
	require.NoError(t, err)
	require.InDelta(t, 1, ratio.Point, 1e-12)
	require.InDelta(t, math.Exp(4.302653/math.Sqrt(3)), ratio.Hi, 1e-3)

	// One round in ten that took a hundred times as long does not move the interval.
	a := []float64{2, 2, 2, 2, 2, 2, 2, 2, 2, 200}
	b := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	ratio, err = stats.Ratio(a, b, 0.95)
	require.NoError(t, err)
	require.InDelta(t, 2, ratio.Hi, 1e-9)
}

func TestTooFewRoundsHaveNoInterval(t *testing.T) {
	ratio, err := stats.Ratio([]float64{2, 2}, []float64{1, 1}, 0.95)
	require.NoError(t, err)
	require.InDelta(t, 2, ratio.Point, 1e-12)
	require.True(t, math.IsInf(ratio.Hi, 1))
	require.False(t, ratio.Excludes(1))
}

func TestRatioRefusesWhatCannotBePaired(t *testing.T) {
	for _, c := range [][2][]float64{{nil, nil}, {{1}, {1, 2}}, {{0}, {1}}, {{1}, {-1}}} {
		_, err := stats.Ratio(c[0], c[1], 0.95)
		require.Error(t, err, "%v", c)
	}
}

func TestHolmByHand(t *testing.T) {
	require.InDeltaSlice(t, []float64{0.03, 0.06, 0.06, 0.02}, stats.Holm([]float64{0.01, 0.04, 0.03, 0.005}), 1e-12)
	require.Equal(t, []float64{1, 1}, stats.Holm([]float64{0.9, 0.8}))
	require.Empty(t, stats.Holm(nil))
}

func TestJoint(t *testing.T) {
	require.InDelta(t, 0.9995, stats.Joint(0.95, 100), 1e-12)
	require.InDelta(t, 0.95, stats.Joint(0.95, 0), 1e-12)
}
