package tokens_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review/tokens"
)

// TestHeld reads tokens in texts, which may be parts of URLs.
func TestHeld(t *testing.T) {
	t.Parallel()
	const token = "eyJmIjoiYSIsInciOiJiIiwieCI6MX0!0123456789abcdef0123456789abcdef01234567"
	for text, want := range map[string]string{"read it at https://notes.example/s/" + token + ".": token, "https://notes.example/s?t=" + token: token, `{"link":"` + token + `"}`: token} {
		require.Contains(t, tokens.Held(text), want)
	}
	require.Empty(t, tokens.Held("a short text, with a_name_that_is_short/and/more and 12345"))
}
