package reference_test

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/targets/reference"
)

// TestDraftVector checks the vector of appendix A.3.1 of draft-irtf-cfrg-xchacha-03.
func TestDraftVector(t *testing.T) {
	text := []byte("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.")
	key := unhex(t, "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f")
	nonce := unhex(t, "404142434445464748494a4b4c4d4e4f5051525354555657")
	data := unhex(t, "50515253c0c1c2c3c4c5c6c7")
	const want = "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff921f9664c97637da9768812f615c68b13b52e" +
		"c0875924c1c7987947deafd8780acf49"
	sealed := reference.Seal(key, nonce, text, data)
	require.Equal(t, want, hex.EncodeToString(sealed))
	opened, ok := reference.Open(key, nonce, sealed, data)
	require.True(t, ok)
	require.Equal(t, text, opened)
	sealed[0] ^= 1
	_, ok = reference.Open(key, nonce, sealed, data)
	require.False(t, ok)
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}
