// Package golibs makes the token libraries that a Go program would otherwise
// pick look like designs, so that the laboratory's instruments range over them
// too: it measures them beside its own designs and attacks them.
//
// Each adapter is as thin as its library allows and uses the library as its own
// documentation shows, with one AES-256 or HMAC-SHA256 key that is derived from
// the secret with HKDF-SHA256. Formats that carry JSON claims carry the payload
// as one string claim, so a payload that is not valid UTF-8 is
// codecs.ErrUnsupported there. Expiry is switched off: a peer is a codec here.
//
// An adapter states of its library only whether it encrypts, and that it keeps
// integrity; every other property is left for the instruments to observe.
// The libraries allocate, and are tried with a ring of one key.
package golibs

import (
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"slices"

	"sealab/codecs"
)

// All returns a row for every peer.
func All() []codecs.Design {
	return []codecs.Design{
		goJose, jwxEncrypted, tinkPeer, pasetoPeer, fernetPeer, secureCookie, // they encrypt
		golangJWT, jwxSigned, // they sign
	}
}

// The refusals. Where a library does not tell a token that it cannot read from
// one that it does not trust, the adapter says unauthentic.
var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "unauthentic")
)

// What a row states.
var (
	encrypts = codecs.Holds(codecs.Integrity, codecs.Confidentiality)
	signs    = slices.Concat(codecs.Holds(codecs.Integrity),
		codecs.Disclaims(codecs.Confidentiality, "the payload is readable"))
)

// codec is a library that turns a whole payload into a whole token and back.
type codec struct {
	seal   func(payload []byte) ([]byte, error)
	unseal func(token []byte) ([]byte, error) // fails with a *codecs.RejectError
}

// Seal implements codecs.Codec.
func (c codec) Seal(dst, payload []byte) ([]byte, error) {
	token, err := c.seal(payload)
	if err != nil {
		return dst, err
	}
	return append(dst, token...), nil
}

// Unseal implements codecs.Codec.
func (c codec) Unseal(dst, token []byte) ([]byte, error) {
	payload, err := c.unseal(token)
	if err != nil {
		return dst, err
	}
	return append(dst, payload...), nil
}

// one sets a library up with the key derived from the only secret of a ring.
func one(setup func(key []byte) (codec, error)) func(codecs.Config) (codecs.Codec, error) {
	return func(c codecs.Config) (codecs.Codec, error) {
		if len(c.Secrets) != 1 {
			return nil, fmt.Errorf("a peer takes one secret, got %d", len(c.Secrets))
		}
		if n := len(c.Secrets[0]); n < codecs.MinSecret {
			return nil, fmt.Errorf("the secret has %d bytes and must have at least %d", n, codecs.MinSecret)
		}
		key, err := derive(c.Secrets[0], "key")
		if err != nil {
			return nil, err
		}
		return setup(key)
	}
}

// derive returns 32 bytes derived from secret under label.
func derive(secret []byte, label string) ([]byte, error) {
	return hkdf.Key(sha256.New, secret, nil, "sealab/peer "+label, 32)
}
