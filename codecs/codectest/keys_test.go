package codectest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/chacha20poly1305"

	"sealab/codecs"
	"sealab/codecs/aesgcm"
	"sealab/codecs/hmacsha256"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

// TestTwinsAreSeen pairs a design with a copy that has the same label but
// another prefix and cipher. Each refuses the other's tokens, yet both have the
// same key.
func TestTwinsAreSeen(t *testing.T) {
	twin := aesgcm.Design
	twin.Name, twin.Prefix = "twin", "st1."
	aead := layouts.AEAD{
		Format: layouts.Format{Prefix: twin.Prefix, NonceSize: chacha20poly1305.NonceSize, TagSize: 16},
		Label:  "sealab/aes-256-gcm/v1",
		Cipher: chacha20poly1305.New,
	}
	twin.Hooks = &lab.Hooks{Inspect: aead.Inspect}
	twin.NewCodec = func(c codecs.Config) (codecs.Codec, error) { return aead.New(c.Secrets...) }
	designs := []codecs.Design{aesgcm.Design, hmacsha256.Design, twin}
	require.Equal(t, [][2]string{{aesgcm.Design.Name, twin.Name}}, twins(t, designs))
	aead.Label = "sealab/twin/v1"
	require.Empty(t, twins(t, designs))
}
