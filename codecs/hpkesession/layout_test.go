package hpkesession

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"testing"

	circl "github.com/cloudflare/circl/hpke"
	"github.com/stretchr/testify/require"

	"sealab/codecs/internal/keyring"
)

// TestLayoutAsDocumented opens a token with the HPKE library, AES-GCM, and only
// the facts in the package comments of this package and package hpkekeys.
func TestLayoutAsDocumented(t *testing.T) {
	secret := bytes.Repeat([]byte("k3"), 16)
	c, err := New(nil, secret)
	require.NoError(t, err)
	token, err := c.Seal(nil, []byte("payload"))
	require.NoError(t, err)

	text, ok := bytes.CutPrefix(token, []byte("ss1."))
	require.True(t, ok)
	raw, err := base64.RawURLEncoding.DecodeString(string(text))
	require.NoError(t, err)
	id, enc, nonce, sealed := raw[:4], raw[4:36], raw[36:48], raw[48:]
	require.Len(t, sealed, len("payload")+16)

	const label = "sealab/hpke-session/v1"
	require.Equal(t, keyring.Derive(secret, label+" key-id", 4), id)
	key := keyring.Derive(secret, label+" key", 32)
	_, private := circl.KEM_X25519_HKDF_SHA256.Scheme().DeriveKeyPair(keyring.Derive(key, label+" kem", 32))
	recipient, err := circl.NewSuite(circl.KEM_X25519_HKDF_SHA256, circl.KDF_HKDF_SHA256, circl.AEAD_AES256GCM).
		NewReceiver(private, []byte(label))
	require.NoError(t, err)
	opener, err := recipient.SetupPSK(enc, keyring.Derive(key, label+" psk", 32), id)
	require.NoError(t, err)
	block, err := aes.NewCipher(opener.Export([]byte(label+" token"), 32))
	require.NoError(t, err)
	gcm, err := cipher.NewGCM(block)
	require.NoError(t, err)
	payload, err := gcm.Open(nil, nonce, sealed, append([]byte("ss1."), id...))
	require.NoError(t, err)
	require.Equal(t, "payload", string(payload))
}
