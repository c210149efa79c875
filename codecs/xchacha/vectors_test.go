package xchacha

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/chacha20poly1305"

	"sealab/internal/wycheproof"
)

// TestDraft runs the example of draft-irtf-cfrg-xchacha-03, appendix A.3.1.
func TestDraft(t *testing.T) {
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(s)
		require.NoError(t, err)
		return b
	}
	aead, err := chacha20poly1305.NewX(unhex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"))
	require.NoError(t, err)
	nonce, data := unhex("404142434445464748494a4b4c4d4e4f5051525354555657"), unhex("50515253c0c1c2c3c4c5c6c7")
	const payload = "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
	const sealed = "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb" +
		"731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452" +
		"2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9" +
		"21f9664c97637da9768812f615c68b13b52e" +
		"c0875924c1c7987947deafd8780acf49"
	require.Equal(t, sealed, hex.EncodeToString(aead.Seal(nil, nonce, []byte(payload), data)))
}

// TestWycheproof runs all cases. A nonce of another length than the design's
// counts as refused and never reaches the primitive, which would panic.
func TestWycheproof(t *testing.T) {
	wycheproof.RunAEAD(t, "xchacha20_poly1305_test.json", chacha20poly1305.NewX)
}
