// Package baseline is the least work that sealing a payload into a URL-safe token
// takes: what an expert would write inline for one key, one goroutine and one
// known size. The designs' speed is measured against it.
//
// A floor derives nothing, names no key and no version, keeps its buffers
// between calls, and takes whatever spelling the base64 decoder takes:
//
//	memcpy               the payload, copied
//	base64               base64url(payload)
//	HMAC-SHA256          base64url(payload || tag[32])
//	AES-256-GCM          base64url(nonce[12] || ciphertext || tag[16])
//	XChaCha20-Poly1305   base64url(nonce[24] || ciphertext || tag[16])
//
// with the base64 decoder and the random numbers that the designs use too.
//
// Floors are for measuring. They are not safe for concurrent use, they accept
// several spellings of one token, and they have no key rotation.
package baseline

import (
	"crypto/hkdf"
	"crypto/sha256"

	"sealab/codecs"
)

// A Floor is one row of the list.
type Floor struct {
	Name      string
	Doc       string
	Primitive string // the algorithm it uses bare, as codecs.Design names it; else empty
	// Open returns the floor under one key. It is not safe for concurrent use.
	Open func(key []byte) (codecs.Codec, error)
}

// All returns every floor.
func All() []Floor {
	return []Floor{
		{Name: "floor-memcpy", Doc: "the payload, copied", Open: openCopy},
		{Name: "floor-base64", Doc: "the payload in base64url", Open: openText},
		{Name: "floor-hmac-sha256", Doc: "a bare tag and base64url", Primitive: "HMAC-SHA256", Open: openHMAC},
		{Name: "floor-aes-256-gcm", Doc: "the bare cipher and base64url", Primitive: "AES-256-GCM", Open: openGCM},
		{Name: "floor-xchacha20-poly1305", Doc: "the bare cipher and base64url", Primitive: "XChaCha20-Poly1305", Open: openXChaCha},
	}
}

// Key returns the key of floors, of 32 bytes: it is no secret.
func Key() ([]byte, error) {
	return hkdf.Key(sha256.New, []byte("the key of the floors is no secret"), nil, "sealab/floor", 32)
}

// errRefused is the one refusal of a floor.
var errRefused = codecs.Reject(codecs.Unauthentic, "floor")
