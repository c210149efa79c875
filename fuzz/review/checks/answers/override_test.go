package answers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestContainsAny looks for short marks, which are also parts of random identifiers.
func TestContainsAny(t *testing.T) {
	for text, want := range map[string]bool{
		"order 498833e17971: delta": false,
		"order 4988, 97 %":          true,
		`{"cloud":97}`:              true,
		"97":                        true,
		"0.970":                     false,
		"harbours":                  false,
		"to the harbour.":           true,
	} {
		require.Equal(t, want, containsAny(text, []string{"97", "harbour"}), text)
	}
}
