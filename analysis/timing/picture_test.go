package timing

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBin(t *testing.T) {
	require.Zero(t, binOf(-3, -3, 7))
	require.Equal(t, histogramBins/2, binOf(2, -3, 7))
	for _, high := range []float64{7, 310, 0.1} {
		require.Equal(t, histogramBins-1, binOf(math.Nextafter(high, 0), -3, high))
	}
}
