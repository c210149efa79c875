package envoy_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/codectest"
	"sealab/codecs/envoy"
)

func TestConformance(t *testing.T) { codectest.Run(t, envoy.Design) }

// TestDefaultIterations opens a token that was sealed with the standard library
// and the gateway's default number of iterations.
func TestDefaultIterations(t *testing.T) {
	const iterations = 100_000
	seed, salt, nonce := bytes.Repeat([]byte("k"), 32), bytes.Repeat([]byte{1}, 16), bytes.Repeat([]byte{2}, 12)
	key, err := pbkdf2.Key(sha256.New, string(seed), salt, iterations, 32)
	require.NoError(t, err)
	block, err := aes.NewCipher(key)
	require.NoError(t, err)
	aead, err := cipher.NewGCM(block)
	require.NoError(t, err)
	const session = "route@alice@backend:MTIzNDU2:"
	token := base64.StdEncoding.AppendEncode(nil, append(append(salt, nonce...), aead.Seal(nil, nonce, []byte(session), nil)...))

	c, err := envoy.New(codecs.Config{Secrets: [][]byte{seed}}, iterations)
	require.NoError(t, err)
	got, err := c.Unseal(nil, token)
	require.NoError(t, err)
	require.Equal(t, session, string(got))
	other, err := envoy.New(codecs.Config{Secrets: [][]byte{seed}}, iterations-1)
	require.NoError(t, err)
	_, err = other.Unseal(nil, token)
	require.NotNil(t, codecs.Rejected(err))
	_, err = envoy.New(codecs.Config{Secrets: [][]byte{seed}}, 0)
	require.Error(t, err)
}
