package codectest

import (
	"crypto/cipher"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/chacha20poly1305"

	"sealab/codecs"
	"sealab/codecs/aesgcm"
	"sealab/codecs/hmacsha256"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

// TestTwinsAreSeen puts a design that borrowed its neighbour's label, with another
// prefix and cipher, beside that neighbour: each refuses the other's tokens, and
// both have one key.
func TestTwinsAreSeen(t *testing.T) {
	twin := aesgcm.Design
	twin.Name, twin.Prefix = "twin", "st1."
	format := layouts.Format{Prefix: twin.Prefix, NonceSize: chacha20poly1305.NonceSize, TagSize: 16}
	twin.Hooks = &lab.Hooks{Inspect: format.Inspect}
	label := "sealab/aes-256-gcm/v1"
	twin.NewCodec = func(c codecs.Config) (codecs.Codec, error) {
		return layouts.New(format, label, c.Secrets, func(key []byte) (cipher.AEAD, error) { return chacha20poly1305.New(key) })
	}
	designs := []codecs.Design{aesgcm.Design, hmacsha256.Design, twin}
	require.Equal(t, [][2]string{{aesgcm.Design.Name, twin.Name}}, twins(t, designs))
	label = "sealab/twin/v1"
	require.Empty(t, twins(t, designs))
}
