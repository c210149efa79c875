package lab_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/catalog"
	"sealab/internal/lab"
)

// TestTokenSizesDoNotWrap checks that the size of a token that no memory holds is
// not smaller than that of its payload.
func TestTokenSizesDoNotWrap(t *testing.T) {
	sized := 0
	for _, d := range catalog.All() {
		size := lab.HooksOf(d).TokenSize
		if size == nil {
			continue
		}
		sized++
		for n := 1; n > 0; n *= 2 {
			require.Greater(t, size(n-1), n-1, d.Name)
		}
		require.Equal(t, math.MaxInt, size(math.MaxInt), d.Name)
	}
	require.NotZero(t, sized)
}
