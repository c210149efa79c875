// Package signed is the designs ed25519 and ml-dsa-44: the payload, readable, with
// a signature. Ed25519 is that of RFC 8032, section 5.1; ML-DSA-44 is that of FIPS
// 204, in its deterministic variant and with an empty context.
//
// Layout, with a payload of m bytes:
//
//	token = "sd1." || base64url(key-id[4] || payload[m] || signature[64])    Ed25519
//	token = "sm1." || base64url(key-id[4] || payload[m] || signature[2420])  ML-DSA-44
//	signed message = prefix || key-id || payload
//	seed of the private key = key
//	key, key-id = keyring derivation under the label "sealab/ed25519/v1" or "sealab/ml-dsa-44/v1"
//
// The roles can be split. A [Codec] is made from secrets and signs. A [Verifier] is
// made from the public keys that [Codec.PublicKeys] returns: it verifies and cannot
// sign.
//
// Limits: any number of tokens for Ed25519, and 2^64 per key for ML-DSA-44
// (the number of signatures in NIST's security definition). Payloads are bounded by
// memory.
//
// It does not give: confidentiality (whoever holds a token reads its payload; equal
// payloads give equal tokens), or any notion of time, user or request: see package
// claims for those. Ed25519 falls to a quantum computer. Deterministic signing is
// weaker than hedged signing against faults of the hardware.
package signed

import (
	"bytes"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

const idSize = len(keyring.Fingerprint{})

var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errUnknownKey  = codecs.Reject(codecs.UnknownKey, "unknown key")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "signature")
)

// An algorithm is a signature algorithm in the layout of this package.
type algorithm struct {
	label, prefix         string
	publicSize, signature int // in bytes
	newSigner             func(seed []byte) (signer, error)
	newVerifier           func(public []byte) (verifier, error)
}

// A signer signs with one private key. sign appends the signature to dst.
type signer interface {
	verifier
	sign(dst, message []byte) ([]byte, error)
	public() []byte
}

// A verifier verifies with one public key.
type verifier interface {
	verify(message, signature []byte) bool
}

// A Verifier unseals tokens under a ring of public keys.
type Verifier struct {
	algorithm *algorithm
	ring      *keyring.Ring[verifier]
}

// A Codec signs with the first key of its ring. It implements lab.Assembler.
type Codec struct {
	Verifier
	signers []keyring.Entry[signer]
}

func (a *algorithm) codec(secrets [][]byte) (*Codec, error) {
	c := &Codec{Verifier: Verifier{algorithm: a}}
	var err error
	c.ring, err = keyring.New(secrets, a.label, func(key []byte, id keyring.Fingerprint) (verifier, error) {
		s, err := a.newSigner(bytes.Clone(key))
		//mutant:equivalent the key is derived, so its size is right
		if err != nil {
			return nil, err
		}
		c.signers = append(c.signers, keyring.Entry[signer]{ID: id, Key: s})
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// verifier returns the verifier for keys as PublicKeys returns them.
func (a *algorithm) verifier(keys [][]byte) (*Verifier, error) {
	ring, err := keyring.Index(keys, func(b []byte) (id keyring.Fingerprint, v verifier, err error) {
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
	return &Verifier{a, ring}, nil
}

// PublicKeys returns the public keys of the ring, in its order: the key-id of each,
// and the encoded key behind it.
func (c *Codec) PublicKeys() [][]byte {
	var keys [][]byte
	for _, s := range c.signers {
		keys = append(keys, append(s.ID[:len(s.ID):len(s.ID)], s.Key.public()...))
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

func (a *algorithm) minRaw() int { return idSize + a.signature }

func (a *algorithm) tokenSize(m int) int {
	return len(a.prefix) + base64url.EncodedLen(a.minRaw()+m)
}

// Seal implements codecs.Codec. It is deterministic.
func (c *Codec) Seal(dst, payload []byte) ([]byte, error) {
	a, k := c.algorithm, &c.signers[0]
	s := base64url.GetScratch()
	defer s.Free()
	s.Grow(len(a.prefix) + a.minRaw() + len(payload))
	s.Bytes = append(s.Bytes, a.prefix...)
	s.Bytes = append(s.Bytes, k.ID[:]...)
	s.Bytes = append(s.Bytes, payload...)
	var err error
	if s.Bytes, err = k.Key.sign(s.Bytes, s.Bytes); err != nil {
		return dst, err
	}
	dst = append(slices.Grow(dst, a.tokenSize(len(payload))), a.prefix...)
	return base64url.AppendEncode(dst, s.Bytes[len(a.prefix):]), nil
}

// Unseal implements codecs.Codec.
func (v *Verifier) Unseal(dst, token []byte) ([]byte, error) {
	a := v.algorithm
	s := base64url.GetScratch()
	defer s.Free()
	s.Bytes = append(s.Bytes, a.prefix...)
	if !s.DecodeToken(a.prefix, token, len(a.prefix)+a.minRaw()) {
		return dst, errMalformed
	}
	head := len(a.prefix) + idSize
	k := v.ring.Lookup(s.Bytes[len(a.prefix):head])
	if k == nil {
		return dst, errUnknownKey
	}
	n := len(s.Bytes) - a.signature
	if !k.Key.verify(s.Bytes[:n], s.Bytes[n:]) {
		return dst, errUnauthentic
	}
	return append(dst, s.Bytes[head:n]...), nil
}

// An assembler is a Codec that internal/lab can seal step by step. Only the
// catalog's row opens one: Codec has no such methods.
type assembler struct{ *Codec }

// forLab returns the codec of a row.
func forLab(c *Codec, err error) (codecs.Codec, error) {
	if err != nil {
		return nil, err
	}
	return assembler{c}, nil
}

// SeedSize implements lab.Seeded: sealing is deterministic.
func (c assembler) SeedSize() int { return 0 }

// SealSeeded implements lab.Seeded.
func (c assembler) SealSeeded(dst, seed, payload []byte) ([]byte, error) {
	return c.SealEdited(dst, seed, payload, nil)
}

var layout = layouts.Layout{lab.WireKeyID, lab.WireBody, lab.WireTag}

// SealEdited implements lab.Assembler.
func (c assembler) SealEdited(dst, seed, payload []byte, edit lab.Edit) ([]byte, error) {
	if len(seed) != 0 {
		return dst, fmt.Errorf("seed has %d bytes, want 0", len(seed))
	}
	k := &c.signers[0]
	head := edit.Apply(lab.StepPrefix, []byte(c.algorithm.prefix))
	id := edit.Apply(lab.StepKeyID, k.ID[:])
	payload = edit.Apply(lab.StepPayload, payload)
	signature, err := k.Key.sign(nil, slices.Concat(head, id, payload))
	if err != nil {
		return dst, err
	}
	return layout.Append(dst, edit, head, id, payload, edit.Give(lab.StepTag, signature)), nil
}

// inspect parses a token.
func (a *algorithm) inspect(token []byte) ([]lab.Field, error) {
	return layouts.ParseJoined(a.prefix, token, layouts.Piece{Name: lab.WireKeyID, Bytes: idSize, Readable: true},
		layouts.Piece{Name: lab.WireBody, Readable: true}, layouts.Piece{Name: lab.WireTag, Bytes: a.signature})
}

// guarantees returns the answers that both designs share, and then more.
func guarantees(more ...[]codecs.Guarantee) func(map[string]string) []codecs.Guarantee {
	return codecs.Always(append(more, keyring.Guarantees(),
		codecs.Holds(codecs.Integrity, codecs.Canonical, codecs.Rotation, codecs.KeySeparation,
			codecs.UniformRefusal, codecs.Total, codecs.ByteExact, codecs.StrongKeys),
		codecs.HoldsBecause(codecs.SteadyTiming, "a verifier has public keys only"),
		codecs.HoldsBecause(codecs.SenderAuthenticated, "a verifier takes public keys, with which no token can be signed"),
		codecs.HoldsBecause(codecs.NonceMisuseResistant, "there is no nonce"),
		codecs.Disclaims(codecs.Confidentiality, "the payload is readable, and equal payloads give equal tokens"),
		codecs.Disclaims(codecs.FreshNonces, "there is no nonce: equal payloads give equal tokens"),
	)...)
}
