// Package hmacsha256 implements the design hmac-sha256: the payload, readable, with
// an HMAC-SHA256 tag (RFC 2104, FIPS 198-1).
//
// Layout, with a payload of m bytes:
//
//	token = "sh1." || base64url(key-id[4] || payload[m] || tag[32])
//	tag = HMAC-SHA256(key, "sh1." || key-id || payload)
//	key, key-id = keyring derivation under the label "sealab/hmac-sha256/v1"
//
// The tag stands last and has a fixed length, so there is one way to cut a
// token into fields.
//
// Limits: any number of tokens; the payload is bounded by memory.
//
// Limitations: no confidentiality. A holder of a token reads its payload, and equal
// payloads give equal tokens. Package claims adds time, user and request.
package hmacsha256

import (
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/codecs/internal/mac"
	"sealab/internal/lab"
)

const (
	label  = "sealab/hmac-sha256/v1"
	prefix = "sh1."
	idSize = len(keyring.Fingerprint{})
	// minRaw is the number of bytes that a token holds beside its payload.
	minRaw = idSize + mac.Size
)

var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errUnknownKey  = codecs.Reject(codecs.UnknownKey, "unknown key")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "tag")
)

// A Codec signs payloads.
type Codec struct{ ring *keyring.Ring[*mac.Key] }

// New returns the codec for a ring of secrets.
func New(secrets ...[]byte) (*Codec, error) {
	ring, err := keyring.New(secrets, label, func(key []byte, _ keyring.Fingerprint) (*mac.Key, error) {
		return mac.New(key), nil
	})
	if err != nil {
		return nil, err
	}
	return &Codec{ring}, nil
}

// Ephemeral returns a codec under a fresh random secret: its tokens die with
// the process.
func Ephemeral() *Codec {
	return keyring.Ephemeral(New)
}

// Seal implements codecs.Codec. It is deterministic and does not fail.
func (c *Codec) Seal(dst, payload []byte) ([]byte, error) {
	k := c.ring.First()
	s := base64url.GetScratch()
	defer s.Free()
	s.Grow(minRaw + len(payload))
	s.Bytes = append(s.Bytes, k.ID[:]...)
	s.Bytes = append(s.Bytes, payload...)
	s.Bytes = k.Key.Append(s.Bytes, prefixBytes, s.Bytes)
	dst = append(slices.Grow(dst, tokenSize(len(payload))), prefix...)
	return base64url.AppendEncode(dst, s.Bytes), nil
}

// tokenSize returns the length of the token of m bytes.
func tokenSize(m int) int { return len(prefix) + base64url.EncodedLen(minRaw+m) }

var prefixBytes = []byte(prefix)

// Unseal implements codecs.Codec.
func (c *Codec) Unseal(dst, token []byte) ([]byte, error) {
	s := base64url.GetScratch()
	defer s.Free()
	if !s.DecodeToken(prefix, token, minRaw) {
		return dst, errMalformed
	}
	k := c.ring.Lookup(s.Bytes[:idSize])
	if k == nil {
		return dst, errUnknownKey
	}
	n := len(s.Bytes) - mac.Size
	body, tag := s.Bytes[:n], s.Bytes[n:]
	if !k.Key.Verify(tag, prefixBytes, body) {
		return dst, errUnauthentic
	}
	return append(dst, body[idSize:]...), nil
}

// An assembler is a Codec that internal/lab can seal step by step. Only the
// catalog's row opens one: Codec has no such methods.
type assembler struct{ *Codec }

// SeedSize implements lab.Seeded: sealing is deterministic.
func (c assembler) SeedSize() int { return 0 }

// SealSeeded implements lab.Seeded.
func (c assembler) SealSeeded(dst, seed, payload []byte) ([]byte, error) {
	if len(seed) != 0 {
		return dst, fmt.Errorf("the seed has %d bytes, want 0", len(seed))
	}
	return c.Seal(dst, payload)
}

// layout has the fields after the prefix.
var layout = layouts.Layout{lab.WireKeyID, lab.WireBody, lab.WireTag}

// SealEdited implements lab.Assembler.
func (c assembler) SealEdited(dst, seed, payload []byte, edit lab.Edit) ([]byte, error) {
	if len(seed) != 0 {
		return dst, fmt.Errorf("the seed has %d bytes, want 0", len(seed))
	}
	k := c.ring.First()
	head := edit.Apply(lab.StepPrefix, prefixBytes)
	id := edit.Apply(lab.StepKeyID, k.ID[:])
	payload = edit.Apply(lab.StepPayload, payload)
	tag := edit.Give(lab.StepTag, k.Key.Append(nil, head, id, payload))

	return layout.Append(dst, edit, head, id, payload, tag), nil
}

// inspect takes a token apart.
func inspect(token []byte) ([]lab.Field, error) {
	return layouts.ParseJoined(prefix, token, layouts.Piece{Name: lab.WireKeyID, Bytes: idSize, Readable: true},
		layouts.Piece{Name: lab.WireBody, Readable: true}, layouts.Piece{Name: lab.WireTag, Bytes: mac.Size})
}

// Design is the catalog's row.
var Design = codecs.Design{
	Name:   "hmac-sha256",
	Doc:    "readable, signed with HMAC-SHA256",
	Spec:   "RFC 2104; FIPS 198-1; RFC 5869",
	Prefix: prefix,
	NewCodec: func(c codecs.Config) (codecs.Codec, error) {
		codec, err := New(c.Secrets...)
		if err != nil {
			return nil, err
		}
		return assembler{codec}, nil
	},
	Hooks: &lab.Hooks{
		Facts: &lab.Facts{
			ForgeryBits: 256,
			Approved:    "FIPS 198-1, SP 800-56C",
			Use:         "hmacsha256.New(secret)",
			Languages:   []string{"java", "ruby", "rust"},
		},
		Primitive: "HMAC-SHA256",
		TokenSize: tokenSize,
		Inspect:   inspect,
	},
	Guarantees: codecs.Always(
		keyring.Guarantees(),
		codecs.Holds(codecs.Integrity, codecs.Canonical, codecs.Rotation, codecs.KeySeparation,
			codecs.UniformRefusal, codecs.SteadyTiming, codecs.Total, codecs.ByteExact, codecs.StrongKeys),
		codecs.HoldsBecause(codecs.KeyCommitting, "two keys with the same tag are a collision of HMAC-SHA256 under derived keys"),
		codecs.HoldsBecause(codecs.NonceMisuseResistant, "there is no nonce"),
		codecs.Disclaims(codecs.Confidentiality, "the payload is readable, and equal payloads give equal tokens"),
		codecs.Disclaims(codecs.FreshNonces, "there is no nonce: equal payloads give equal tokens"),
		codecs.Disclaims(codecs.SenderAuthenticated, "one symmetric key: who can verify can sign"),
	),
}
