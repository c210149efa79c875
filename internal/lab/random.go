package lab

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"

	"sealab/codecs"
)

// Random fills b with random bytes. Instruments and broken designs call it;
// production designs have a function of their own.
func Random(b []byte) {
	rand.Read(b) //nolint:errcheck // documented never to return an error
}

// Derive returns n bytes of HKDF-SHA256 (RFC 5869) of secret with an empty salt
// and label as the info, as production designs derive their keys.
func Derive(secret []byte, label string, n int) []byte {
	out, err := hkdf.Key(sha256.New, secret, nil, label, n)
	if err != nil {
		panic("lab: deriving a key: " + err.Error()) // n too large: a mistake in the caller
	}
	return out
}

// NewSecret returns a random secret that every design accepts.
func NewSecret() []byte {
	secret := make([]byte, codecs.MinSecret)
	Random(secret)
	return secret
}
