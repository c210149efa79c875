package bench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/bench"
	"sealab/codecs/sdk"
)

// TestMirroredDesignsAreMeasuredOnce checks the designs of all SDKs, installed
// or not.
func TestMirroredDesignsAreMeasuredOnce(t *testing.T) {
	sdks, err := sdk.Mirrors("..")
	require.NoError(t, err)
	require.NotEmpty(t, sdks)
	subjects := bench.Subjects()
	for _, s := range sdks {
		subjects, err = bench.WithDesign(subjects, s.Mirrors)
		require.NoError(t, err, s.Name)
	}
	count := map[string]int{}
	for _, s := range subjects {
		count[s.Name]++
		require.Equal(t, 1, count[s.Name], s.Name)
	}
	for _, s := range sdks {
		require.NotZero(t, count[s.Mirrors], s.Name)
	}
}
