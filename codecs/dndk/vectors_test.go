package dndk

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/wycheproof"
)

// TestDraft runs the example of draft-gueron-cfrg-dndkgcm-03, appendix A, for a
// nonce of 24 bytes and key commitment.
func TestDraft(t *testing.T) {
	key, nonce := make([]byte, 32), make([]byte, nonceSize)
	key[0] = 1
	for i := range nonce {
		nonce[i] = byte(i)
	}
	a, err := newDNDK(key)
	require.NoError(t, err)
	keys, iv := a.(*dndk).derive(nonce)
	require.Equal(t, "3d1480ee39a968d581d16a578bdaf0e6719dcfff6e127b40bbdd844accea7e1c", hex.EncodeToString(keys[:32]))
	require.Equal(t, "2baf00efd298de13055c9a6c39e05aee571583384357635e144fa21444239968", hex.EncodeToString(keys[32:]))
	require.Equal(t, "0f1011121314151617000000", hex.EncodeToString(iv[:]))

	plaintext, data := []byte{0x11, 0, 0, 1}, []byte{1, 0, 0, 0, 0x11}
	sealed := a.Seal(nil, nonce, plaintext, data)
	require.Equal(t, "8eee8a4b"+"8a1c8d0ceb7e07e3c834cafe75aa001f"+hex.EncodeToString(keys[32:]), hex.EncodeToString(sealed))
	got, err := a.Open(nil, nonce, sealed, data)
	require.NoError(t, err)
	require.Equal(t, plaintext, got)
}

// TestAccumulated compares 10,000 cases with the crates nonce-extension 0.3.0,
// for the derivation, and aes-gcm 0.10.3.
func TestAccumulated(t *testing.T) {
	require.Equal(t, "2d9dee641ccad8db000c44c680ae588e7baa98fc4801fe2c1d86905f5a315713",
		wycheproof.Accumulate(t, 32, 10_000, newDNDK))
}

// TestCommitmentDecides changes one byte of the key commitment at a time.
func TestCommitmentDecides(t *testing.T) {
	a, err := newDNDK(make([]byte, 32))
	require.NoError(t, err)
	nonce := make([]byte, nonceSize)
	sealed := a.Seal(nil, nonce, []byte("payload"), nil)
	for i := len("payload"); i < len(sealed); i++ {
		sealed[i] ^= 1
		_, err := a.Open(nil, nonce, sealed, nil)
		require.Error(t, err, "byte %d", i)
		sealed[i] ^= 1
	}
	_, err = a.Open(nil, nonce, sealed, nil)
	require.NoError(t, err)
}
