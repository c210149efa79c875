// Package signed implements the designs ed25519 and ml-dsa-44: a readable
// payload with a signature. Ed25519 is that of RFC 8032, section 5.1. ML-DSA-44
// is the deterministic variant of FIPS 204 with an empty context.
//
// Layout, with a payload of m bytes:
//
//	token = "sd1." || base64url(key-id[4] || payload[m] || signature[64])    Ed25519
//	token = "sm1." || base64url(key-id[4] || payload[m] || signature[2420])  ML-DSA-44
//	signed message = prefix || key-id || payload
//	seed of the private key = key
//	key, key-id = keyring derivation under the label "sealab/ed25519/v1" or "sealab/ml-dsa-44/v1"
//
// The roles can be split. A [Codec] is made from secrets and signs. A
// [Verifier] is made from the public keys that [Codec.PublicKeys] returns. It
// verifies and cannot sign.
//
// Limits: any number of tokens for Ed25519, and 2^64 per key for ML-DSA-44
// (the number of signatures in NIST's security definition). Payloads are bounded by
// memory.
//
// Limitations: no confidentiality (anyone who holds a token can read its
// payload, and equal payloads give equal tokens). Use package claims for time,
// user and request. A quantum computer breaks Ed25519. Deterministic signing is
// more vulnerable to hardware faults than hedged signing.
package signed

import (
	"bytes"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
)

const idSize = len(keyring.ID{})

var errSignature = codecs.Reject(codecs.Unauthentic, "signature")

// An algorithm is a signature algorithm in the layout of this package.
type algorithm struct {
	layouts.Signed     // its signers implement signer
	publicSize     int // in bytes
	newVerifier    func(public []byte) (layouts.Verifier, error)
}

// A signer signs with one private key.
type signer interface {
	layouts.Signer
	public() []byte
}

// A Verifier unseals tokens under a ring of public keys.
type Verifier = layouts.SignedVerifier

// A Codec signs with the first key of its ring.
type Codec struct {
	layouts.SignedCodec
	public [][]byte
}

func (a *algorithm) codec(secrets [][]byte) (*Codec, error) {
	c, format := new(Codec), a.Signed
	format.Signer = func(key []byte, id keyring.ID) (layouts.Signer, error) {
		s, err := a.Signer(key, id)
		//mutant:equivalent the key is derived, so its size is right
		if err != nil {
			return nil, err
		}
		c.public = append(c.public, append(id[:], s.(signer).public()...))
		return s, nil
	}
	signing, err := format.New(secrets...)
	if err != nil {
		return nil, err
	}
	c.SignedCodec = *signing
	return c, nil
}

// verifier returns the verifier for keys from PublicKeys.
func (a *algorithm) verifier(keys [][]byte) (*Verifier, error) {
	ring, err := keyring.Index(keys, func(b []byte) (id keyring.ID, v layouts.Verifier, err error) {
		if len(b) != idSize+a.publicSize {
			return id, nil, fmt.Errorf("public key has %d bytes, want %d", len(b), idSize+a.publicSize)
		}
		copy(id[:], b)
		v, err = a.newVerifier(bytes.Clone(b[idSize:]))
		return id, v, err
	})
	if err != nil {
		return nil, err
	}
	return a.Verifier(ring), nil
}

// PublicKeys returns the public keys in the order of the ring. Each is the
// key-id followed by the encoded key.
func (c *Codec) PublicKeys() [][]byte {
	keys := make([][]byte, len(c.public))
	for i, key := range c.public {
		keys[i] = bytes.Clone(key)
	}
	return keys
}

// publicKeys returns the public keys of a ring of secrets.
func (a *algorithm) publicKeys(secrets [][]byte) ([][]byte, error) {
	c, err := a.codec(secrets)
	//mutant:equivalent the same secrets made a codec before
	if err != nil {
		return nil, err
	}
	return c.PublicKeys(), nil
}

// verifiedWithPublicKeys returns the guarantees that both designs have because
// verifiers hold only public keys.
func verifiedWithPublicKeys() []codecs.Guarantee {
	return slices.Concat(
		codecs.HoldsBecause(codecs.SteadyTiming, "a verifier has public keys only"),
		codecs.HoldsBecause(codecs.SenderAuthenticated, "a verifier takes public keys, with which no token can be signed"),
	)
}
