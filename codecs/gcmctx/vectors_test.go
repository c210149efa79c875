package gcmctx

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConstruction compares the tag with the definition of CTX, because there
// are no published vectors. Only the tag differs from GCM.
func TestConstruction(t *testing.T) {
	key := bytes.Repeat([]byte("k3"), 16)
	block, err := aes.NewCipher(key)
	require.NoError(t, err)
	gcm, err := cipher.NewGCM(block)
	require.NoError(t, err)
	own, err := newCTX(key)
	require.NoError(t, err)
	for n := range 200 {
		nonce, payload, data := bytes.Repeat([]byte{byte(n)}, format.NonceSize), bytes.Repeat([]byte("p"), n), bytes.Repeat([]byte("d"), n%90)
		plain := gcm.Seal(nil, nonce, payload, data)
		sum := sha256.Sum256(slices.Concat(key, nonce, data, plain[n:]))
		want := append(plain[:n:n], sum[:]...)
		sealed := own.Seal([]byte("x"), nonce, payload, data)[1:]
		require.Equal(t, want, sealed)
		got, err := own.Open([]byte("y"), nonce, sealed, data)
		require.NoError(t, err)
		require.Equal(t, "y"+string(payload), string(got))
		require.Equal(t, want, sealed, "the ciphertext was not restored")

		for _, i := range []int{0, n / 2, n, len(sealed) - 1} {
			sealed[i] ^= 1
			changed := bytes.Clone(sealed)
			room := make([]byte, 0, n+64)
			_, err := own.Open(room, nonce, sealed, data)
			require.Error(t, err)
			require.Equal(t, changed, sealed, "the ciphertext was not restored")
			require.Zero(t, bytes.Count(room[:n], []byte("p")), "plaintext was left in dst")
			sealed[i] ^= 1
		}
		_, err = own.Open(nil, nonce, sealed, append(data, 'd'))
		require.Error(t, err)
	}
}
