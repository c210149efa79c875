package gcmsiv

import (
	"bytes"
	"testing"

	"github.com/ericlagergren/siv"
	"github.com/stretchr/testify/require"
	"github.com/tink-crypto/tink-go/v2/aead/subtle"

	"sealab/internal/wycheproof"
)

// TestWycheproof runs all cases, including those with keys of 128 bits, which
// the design does not use, and the examples of RFC 8452, appendix C.
func TestWycheproof(t *testing.T) {
	n := wycheproof.RunAEAD(t, "aes_gcm_siv_test.json", siv.NewGCM)
	require.Equal(t, 202, n)
}

// TestAccumulated compares 10,000 cases with the crate aes-gcm-siv 0.11.1.
func TestAccumulated(t *testing.T) {
	require.Equal(t, "f9783379c91113d8013c99374bc895bc7a9f38a2952da035efb0133791ee421c",
		wycheproof.Accumulate(t, 32, 10_000, siv.NewGCM))
}

// TestTink seals here and opens with Tink, and the reverse. Tink writes the nonce
// before the ciphertext.
func TestTink(t *testing.T) {
	key := bytes.Repeat([]byte("k3"), 16)
	own, err := siv.NewGCM(key)
	require.NoError(t, err)
	tink, err := subtle.NewAESGCMSIV(key)
	require.NoError(t, err)
	for n := range 200 {
		payload, data := bytes.Repeat([]byte("p"), n), bytes.Repeat([]byte("d"), n%40)
		theirs, err := tink.Encrypt(payload, data)
		require.NoError(t, err)
		got, err := own.Open(nil, theirs[:siv.NonceSize], theirs[siv.NonceSize:], data)
		require.NoError(t, err)
		require.True(t, bytes.Equal(payload, got))
		nonce := bytes.Repeat([]byte{byte(n)}, siv.NonceSize)
		got, err = tink.Decrypt(own.Seal(bytes.Clone(nonce), nonce, payload, data), data)
		require.NoError(t, err)
		require.True(t, bytes.Equal(payload, got))
	}
}
