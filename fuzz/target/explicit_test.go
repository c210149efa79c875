package target

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/program"
)

// TestExplicit holds that an input that says all of it itself makes the choices
// of the one that drew them, of dear designs as well.
func TestExplicit(t *testing.T) {
	dear := 0
	for i := range 500 {
		input := []byte{byte(i), byte(i >> 8), program.More}
		drawn := program.New(input)
		drawn.Continue()
		all := explicit(input)
		require.False(t, program.GoesOn(all))
		said := program.New(all)
		said.Continue()
		one, other := pick(drawn), pick(said)
		require.Equal(t, one.Name, other.Name, "%x", input)
		if one.dear {
			dear++
		}
		require.Empty(t, bytes.Trim(bytes.TrimPrefix(said.Rest(), drawn.Rest()), "\x00"))
	}
	require.NotZero(t, dear)
	require.Equal(t, []byte{1, 2}, explicit([]byte{1, 2}))
}
