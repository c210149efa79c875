package timing

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWilcoxonByHand(t *testing.T) {
	// Ranks of |d|: 1, 2, 3, 4, 5; sum of the positive ones 14 of 15;
	// mean 7.5, variance 13.75, z = 1.7529.
	require.InDelta(t, 0.0796, wilcoxonP([]float64{2, -1, 3, 4, 5}), 1e-3)
	require.InDelta(t, 0.0796, wilcoxonP([]float64{-2, 1, -3, -4, -5, 0, 0}), 1e-3)
	// All tied: mean 7.5, variance 13.75 - 120/48 = 11.25, z = 4.5/3.354.
	require.InDelta(t, 0.1797, wilcoxonP([]float64{1, 1, 1, -1, 1}), 1e-3)
	require.Equal(t, 1.0, wilcoxonP(nil))
	require.Equal(t, 1.0, wilcoxonP([]float64{0, 0}))
}

func TestSignByHand(t *testing.T) {
	require.InDelta(t, 2*11./1024, signTest([]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, -1, 0}), 1e-12)
	require.Equal(t, 1.0, signTest([]float64{1, -1}))
	require.Equal(t, 1.0, signTest(nil))
}

func TestKolmogorovPublished(t *testing.T) {
	// Stephens' 5 % and 1 % points of the modified statistic: 1.358 and 1.628.
	const n = 200
	const root = 14.1421356
	require.InDelta(t, 0.05, kolmogorovP(1.358/(root+0.12+0.11/root), n), 1e-3)
	require.InDelta(t, 0.01, kolmogorovP(1.628/(root+0.12+0.11/root), n), 1e-3)
	require.Equal(t, 1.0, kolmogorovP(0, n))
}

func TestDudectByHand(t *testing.T) {
	a := []float64{1, 2, 3, 4, 5, 6}
	require.Zero(t, welchT(a, a))
	// Means 3.5 and 5.5, variances 3.5: t = 2/sqrt(7/6).
	require.InDelta(t, 1.8516, welchT(a, []float64{3, 4, 5, 6, 7, 8}), 1e-3)
	require.Greater(t, dudectT(a, []float64{3, 4, 5, 6, 7, 8}), 1.85)
}
