package timing

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBin(t *testing.T) {
	require.Zero(t, bin(-3, -3, 7))
	require.Equal(t, bins/2, bin(2, -3, 7))
	for _, high := range []float64{7, 310, 0.1} {
		require.Equal(t, bins-1, bin(math.Nextafter(high, 0), -3, high))
	}
}
