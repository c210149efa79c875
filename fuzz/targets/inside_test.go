package targets

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSaid tells another spelling from another text.
func TestSaid(t *testing.T) {
	require.Equal(t, said([]byte("AAA")), said([]byte("A A\nB=")))
	require.NotEqual(t, said([]byte("AAAA")), said([]byte("AABA")))
}
