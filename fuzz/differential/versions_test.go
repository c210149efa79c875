package differential_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/fuzz/differential"
)

// TestVersionsOfOneFormat exchanges tokens between the readings of each format. Unaltered
// tokens must be accepted, and altered ones refused.
func TestVersionsOfOneFormat(t *testing.T) {
	pairs := 0
	for _, a := range catalog.Variants() {
		for _, b := range catalog.Variants() {
			if !a.IsScheme() || a.Name == b.Name || !a.SharesFormat(b) {
				continue
			}
			p, err := differential.Pair(a, b, seed)
			require.NoError(t, err)
			require.Empty(t, p.Forged, "%s at %s", a.Name, b.Name)
			require.NotZero(t, p.Altered)
			pairs++
		}
	}
	require.NotZero(t, pairs)
}

// TestVersionsThatBreak is the control. A version that refuses everything breaks an upgrade,
// and one that accepts forgeries accepts altered tokens.
func TestVersionsThatBreak(t *testing.T) {
	sound, deaf := broken(t, faults["refuses all"])
	p, err := differential.Pair(sound, deaf, seed)
	require.NoError(t, err)
	require.True(t, p.Breaks())
	require.Equal(t, "malformed, malformed", p.Reason)

	_, forged := broken(t, fault{verify: func(state []byte, err error) ([]byte, error) {
		if codecs.Rejected(err) != nil {
			return []byte("forged"), nil
		}
		return state, err
	}})
	p, err = differential.Pair(sound, forged, seed)
	require.NoError(t, err)
	require.False(t, p.Breaks())
	require.NotEmpty(t, p.Forged)
}
