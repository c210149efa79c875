package ascon

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/wycheproof"
)

// TestWycheproof runs all cases, including known answers of the designers'
// reference code.
func TestWycheproof(t *testing.T) {
	n := wycheproof.RunAEAD(t, "ascon_sp800_232_aead128_test.json", newAscon)
	require.Equal(t, 252, n)
}

// TestAccumulated compares 10,000 cases with two other implementations, which
// agree: the crate ascon-aead 0.6.0 and Bouncy Castle 1.86.
func TestAccumulated(t *testing.T) {
	require.Equal(t, "db02436cc4e1952f295c02514b49ff2ca73b4a6ccef7dfb4e102f31bba3dc612",
		wycheproof.Accumulate(t, keySize, 10_000, newAscon))
}
