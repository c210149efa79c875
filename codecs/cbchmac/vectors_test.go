package cbchmac

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"testing"

	jose "github.com/go-jose/go-jose/v4/cipher"
	"github.com/stretchr/testify/require"

	"sealab/internal/wycheproof"
)

// TestWycheproof runs all cases, including the example of RFC 7518, appendix
// B.3.
func TestWycheproof(t *testing.T) {
	n := wycheproof.RunAEAD(t, "a256cbc_hs512_test.json", newCBC)
	require.Equal(t, 94, n)
}

// TestJose seals here and opens with go-jose, and the reverse.
func TestJose(t *testing.T) {
	key := bytes.Repeat([]byte("k3"), keySize/2)
	own, err := newCBC(key)
	require.NoError(t, err)
	theirs, err := jose.NewCBCHMAC(key, aes.NewCipher)
	require.NoError(t, err)
	for n := range 200 {
		nonce, payload, data := bytes.Repeat([]byte{byte(n)}, nonceSize), bytes.Repeat([]byte("p"), n), bytes.Repeat([]byte("d"), n%90)
		sealed := own.Seal(nil, nonce, payload, data)
		require.Equal(t, theirs.Seal(nil, nonce, payload, data), sealed)
		got, err := own.Open(nil, nonce, sealed, data)
		require.NoError(t, err)
		require.True(t, bytes.Equal(payload, got))
	}
}

// TestNoPaddingOracle seals invalid paddings under the key. They are refused,
// but only after the tag is verified, so an attacker cannot present them.
func TestNoPaddingOracle(t *testing.T) {
	a, err := newCBC(bytes.Repeat([]byte("k3"), keySize/2))
	require.NoError(t, err)
	c, nonce := a.(*cbc), make([]byte, nonceSize)
	for pad := range 256 {
		body := bytes.Repeat([]byte{byte(pad)}, 2*aes.BlockSize)
		cipher.NewCBCEncrypter(c.block, nonce).CryptBlocks(body, body)
		var tag [tagSize]byte
		c.tag(&tag, nonce, body, nil)
		_, err := a.Open(nil, nonce, append(bytes.Clone(body), tag[:]...), nil)
		require.Equal(t, pad >= 1 && pad <= aes.BlockSize, err == nil, "padding %d", pad)
		tag[0] ^= 1
		_, err = a.Open(nil, nonce, append(body, tag[:]...), nil)
		require.Error(t, err)
	}
}
