package tokenfmt_test

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"slices"
	"testing"

	"github.com/ericlagergren/siv"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/chacha20poly1305"

	"sealab/fuzz/attack/tokenfmt"
)

func gcm(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// TestTwoKeys builds a token that opens under two keys, for each AEAD.
func TestTwoKeys(t *testing.T) {
	a, b := raw(1, 32), raw(2, 32)
	for name, cipherOf := range map[string]func([]byte) (cipher.AEAD, error){
		"AES-GCM": gcm, "ChaCha20-Poly1305": chacha20poly1305.New, "XChaCha20-Poly1305": chacha20poly1305.NewX,
	} {
		t.Run(name, func(t *testing.T) {
			first, err := cipherOf(a)
			require.NoError(t, err)
			second, err := cipherOf(b)
			require.NoError(t, err)
			data := []byte("v1.")
			seal := func(seed uint64) string {
				nonce := raw(seed, first.NonceSize())
				return "v1." + base64.RawURLEncoding.EncodeToString(first.Seal(slices.Clone(nonce), nonce, []byte("an ordinary state"), data))
			}
			f := tokenfmt.Infer([]byte(seal(3)), []byte(seal(4)))
			c, ok := f.Recognize(a)
			require.True(t, ok)
			require.Equal(t, name, c.Name)
			text, ok := c.TwoKeys(b, tokenfmt.NewSource(1).Rand)
			require.True(t, ok)
			made, err := base64.RawURLEncoding.DecodeString(string(text[3:]))
			require.NoError(t, err)
			n := first.NonceSize()
			one, err := first.Open(nil, made[:n], made[n:], data)
			require.NoError(t, err)
			two, err := second.Open(nil, made[:n], made[n:], data)
			require.NoError(t, err)
			require.NotEqual(t, one, two)
		})
	}
	t.Run("a MAC", func(t *testing.T) {
		body := []byte("an ordinary state")
		text := base64.RawURLEncoding.EncodeToString(append(slices.Clone(body), tokenfmt.MACs[0].Sum(a, body)...))
		c, ok := tokenfmt.Infer([]byte(text)).Recognize(a)
		require.True(t, ok)
		_, ok = c.TwoKeys(b, tokenfmt.NewSource(1).Rand)
		require.False(t, ok)
	})
}

// TestMeetSIV builds a ciphertext that AES-GCM-SIV opens under two keys.
func TestMeetSIV(t *testing.T) {
	for n, data := range [][]byte{nil, []byte("v1.id"), raw(9, 40)} {
		a, b, nonce := raw(1, 32), raw(2, 32), raw(uint64(3+n), siv.NonceSize)
		body, tag, ok := tokenfmt.MeetSIV(a, b, nonce, data, tokenfmt.NewSource(1).Rand)
		require.True(t, ok)
		var opened [][]byte
		for _, key := range [][]byte{a, b} {
			aead, err := siv.NewGCM(key)
			require.NoError(t, err)
			payload, err := aead.Open(nil, nonce, slices.Concat(body, tag), data)
			require.NoError(t, err)
			opened = append(opened, payload)
		}
		require.NotEqual(t, opened[0], opened[1])
	}
	_, _, ok := tokenfmt.MeetSIV(raw(1, 31), raw(2, 32), raw(3, siv.NonceSize), nil, tokenfmt.NewSource(1).Rand)
	require.False(t, ok)
}
