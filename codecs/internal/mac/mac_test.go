package mac_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/internal/mac"
)

func TestKey(t *testing.T) {
	secret := bytes.Repeat([]byte("k"), 32)
	key := mac.New(secret)
	clear(secret) // the Key has a copy
	h := hmac.New(sha256.New, bytes.Repeat([]byte("k"), 32))
	h.Write([]byte("message"))
	want := h.Sum(nil)

	for range 3 { // reuse the state
		require.Equal(t, append([]byte("x"), want...), key.Append([]byte("x"), []byte("mess"), nil, []byte("age")))
	}
	require.True(t, key.Verify(want, []byte("message")))
	require.False(t, key.Verify(want, []byte("Message")))
	require.False(t, key.Verify(want))
	require.False(t, key.Verify(want[:31], []byte("message")))
	require.False(t, key.Verify(append(want, 0), []byte("message")))
	require.False(t, key.Verify(nil, []byte("message")))
	for bit := range 8 * mac.Size {
		wrong := bytes.Clone(want)
		wrong[bit/8] ^= 1 << (bit % 8)
		require.False(t, key.Verify(wrong, []byte("message")), "bit %d", bit)
	}
}
