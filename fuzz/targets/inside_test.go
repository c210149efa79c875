package targets

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSaid tells another spelling from another text.
func TestSaid(t *testing.T) {
	require.Equal(t, lenientlyDecoded([]byte("AAA")), lenientlyDecoded([]byte("A A\nB=")))
	require.NotEqual(t, lenientlyDecoded([]byte("AAAA")), lenientlyDecoded([]byte("AABA")))
}
