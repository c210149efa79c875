package binding

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCovering checks that the covering array covers every triple of the first factor with two
// others, in a number of rows near the minimum.
func TestCovering(t *testing.T) {
	sizes := []int{5, 3, 5, 4, 3, 2, 2, 4}
	rows := coveringArray(sizes)
	require.Less(t, len(rows), 220)
	type triple struct{ m, f, a, g, b int }
	got := map[triple]bool{}
	want := 0
	for _, row := range rows {
		for f := 1; f < len(sizes); f++ {
			for g := f + 1; g < len(sizes); g++ {
				got[triple{row[0], f, row[f], g, row[g]}] = true
			}
		}
	}
	for f := 1; f < len(sizes); f++ {
		for g := f + 1; g < len(sizes); g++ {
			want += sizes[0] * sizes[f] * sizes[g]
		}
	}
	require.Len(t, got, want)
}
