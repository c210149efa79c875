package aegis

import (
	"testing"

	"github.com/ericlagergren/aegis"
	"github.com/stretchr/testify/require"

	"sealab/internal/wycheproof"
)

func TestWycheproof(t *testing.T) {
	n := wycheproof.RunAEAD(t, "aegis256_test.json", aegis.New)
	require.Equal(t, 472, n)
}

// TestAccumulated compares 10,000 cases with the crate aegis 0.9.20, a wrapper
// of libaegis.
func TestAccumulated(t *testing.T) {
	require.Equal(t, "3b348b02c7f8a0f20f91b9fb1a5770c43862bcae05a76464bf45b62f392b5050",
		wycheproof.Accumulate(t, 32, 10_000, aegis.New))
}
