// Package hmacsha256 is the design hmac-sha256: the payload, readable, with an
// HMAC-SHA256 tag (RFC 2104, FIPS 198-1).
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
// Limits: none on the number of tokens; the payload is bounded by memory.
//
// It does not give: confidentiality (whoever holds a token reads its payload;
// equal payloads give equal tokens), or any notion of time, user or request:
// see package envelope for those.
package hmacsha256

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"hash"
	"slices"
	"sync"

	"sealab/codecs"
	"sealab/codecs/b64"
	"sealab/codecs/keyring"
)

const (
	label  = "sealab/hmac-sha256/v1"
	prefix = "sh1."
	idSize = len(keyring.Fingerprint{})
	// minRaw is the number of bytes that a token holds beside its payload.
	minRaw = idSize + sha256.Size
)

var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errUnknownKey  = codecs.Reject(codecs.UnknownKey, "unknown key")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "tag")
)

// A Codec signs payloads. It implements codecs.Assembler.
type Codec struct{ ring *keyring.Ring[*macs] }

// macs hands out keyed HMAC states, each used by one goroutine at a time.
type macs struct{ pool sync.Pool }

func newMACs(key []byte) *macs {
	key = bytes.Clone(key)
	return &macs{sync.Pool{New: func() any { return &mac{Hash: hmac.New(sha256.New, key)} }}}
}

// New returns the codec for a ring of secrets.
func New(secrets ...[]byte) (*Codec, error) {
	ring, err := keyring.New(secrets, label, func(key []byte, _ keyring.Fingerprint) (*macs, error) {
		return newMACs(key), nil
	})
	if err != nil {
		return nil, err
	}
	return &Codec{ring}, nil
}

// Ephemeral returns a codec under a fresh random secret: its tokens die with
// the process.
func Ephemeral() *Codec {
	c, err := New(keyring.Generate())
	if err != nil {
		panic("sealab: hmacsha256: " + err.Error()) // a generated secret is always fit
	}
	return c
}

// mac is a keyed HMAC with room for its result.
type mac struct {
	hash.Hash
	sum [sha256.Size]byte
}

// write returns a mac that has taken in prefix and body. The caller puts it back
// into the pool when it has read the sum.
func (ms *macs) write(prefix, body []byte) *mac {
	m := ms.pool.Get().(*mac)
	m.Reset()
	m.Write(prefix)
	m.Write(body)
	return m
}

// tag appends the tag of prefix and body to dst.
func (ms *macs) tag(dst, prefix, body []byte) []byte {
	m := ms.write(prefix, body)
	defer ms.pool.Put(m)
	return append(dst, m.Sum(m.sum[:0])...)
}

// Seal implements codecs.Codec. It is deterministic and does not fail.
func (c *Codec) Seal(dst, payload []byte) ([]byte, error) {
	k := c.ring.First()
	s := b64.GetScratch()
	defer s.Free()
	s.Grow(minRaw + len(payload))
	s.Bytes = append(s.Bytes, k.ID[:]...)
	s.Bytes = append(s.Bytes, payload...)
	s.Bytes = k.Key.tag(s.Bytes, prefixBytes, s.Bytes)
	dst = append(dst, prefix...)
	return b64.AppendEncode(dst, s.Bytes), nil
}

var prefixBytes = []byte(prefix)

// Unseal implements codecs.Codec.
func (c *Codec) Unseal(dst, token []byte) ([]byte, error) {
	s := b64.GetScratch()
	defer s.Free()
	text, ok := bytes.CutPrefix(token, prefixBytes)
	if !ok {
		return dst, errMalformed
	}
	if !s.Decode(text) || len(s.Bytes) < minRaw {
		return dst, errMalformed
	}
	k := c.ring.Lookup(s.Bytes[:idSize])
	if k == nil {
		return dst, errUnknownKey
	}
	n := len(s.Bytes) - sha256.Size
	body, tag := s.Bytes[:n], s.Bytes[n:]
	m := k.Key.write(prefixBytes, body) // the right tag stays out of s, which serves other tokens
	defer k.Key.pool.Put(m)
	if subtle.ConstantTimeCompare(m.Sum(m.sum[:0]), tag) != 1 {
		return dst, errUnauthentic
	}
	return append(dst, body[idSize:]...), nil
}

// SeedSize implements codecs.Seeded: sealing is deterministic.
func (c *Codec) SeedSize() int { return 0 }

// SealSeeded implements codecs.Seeded.
func (c *Codec) SealSeeded(dst, seed, payload []byte) ([]byte, error) {
	if len(seed) != 0 {
		return dst, fmt.Errorf("sealab: the seed has %d bytes, want 0", len(seed))
	}
	return c.Seal(dst, payload)
}

// SealEdited implements codecs.Assembler.
func (c *Codec) SealEdited(dst, seed, payload []byte, edit codecs.Edit) ([]byte, error) {
	if len(seed) != 0 {
		return dst, fmt.Errorf("sealab: the seed has %d bytes, want 0", len(seed))
	}
	k := c.ring.First()
	head := edit(codecs.StepPrefix, []byte(prefix))
	id := edit(codecs.StepKeyID, bytes.Clone(k.ID[:]))
	payload = edit(codecs.StepPayload, bytes.Clone(payload))
	tag := edit(codecs.StepTag, k.Key.tag(nil, head, append(bytes.Clone(id), payload...)))

	dst = append(dst, edit(codecs.WirePrefix, head)...)
	raw := edit(codecs.WireKeyID, id)
	raw = append(raw, edit(codecs.WireBody, payload)...)
	raw = append(raw, edit(codecs.WireTag, tag)...)
	return append(dst, edit(codecs.WireText, b64.AppendEncode(nil, raw))...), nil
}

// inspect takes a token apart.
func inspect(token []byte) ([]codecs.Field, error) {
	text, raw, err := b64.Parse(prefix, minRaw, token)
	if err != nil {
		return nil, err
	}
	n := len(raw) - sha256.Size
	return []codecs.Field{
		{Name: codecs.WirePrefix, Wire: prefixBytes, Bytes: prefixBytes, Readable: true},
		{Name: codecs.WireKeyID, Wire: text, Bytes: raw[:idSize], Readable: true},
		{Name: codecs.WireBody, Bytes: raw[idSize:n], Readable: true},
		{Name: codecs.WireTag, Bytes: raw[n:]},
	}, nil
}

// Design is the catalog's row.
var Design = codecs.Design{
	Name:      "hmac-sha256",
	Doc:       "readable, signed with HMAC-SHA256",
	Spec:      "RFC 2104; FIPS 198-1; RFC 5869",
	Prefix:    prefix,
	Primitive: "HMAC-SHA256",
	TokenSize: func(m int) int { return len(prefix) + b64.EncodedLen(minRaw+m) },
	NewCodec:  func(c codecs.Config) (codecs.Codec, error) { return New(c.Secrets...) },
	Inspect:   inspect,
	Guarantees: slices.Concat(
		codecs.Holds(codecs.Integrity, codecs.Canonical, codecs.Rotation, codecs.KeySeparation,
			codecs.UniformRefusal, codecs.SteadyTiming, codecs.Total, codecs.ByteExact, codecs.StrongKeys),
		codecs.HoldsBecause(codecs.KeyCommitting, "two keys with the same tag are a collision of HMAC-SHA256 under derived keys"),
		codecs.HoldsBecause(codecs.NonceMisuseResistant, "there is no nonce"),
		codecs.Disclaims(codecs.Confidentiality, "the payload is readable, and equal payloads give equal tokens"),
		codecs.Disclaims(codecs.FreshNonces, "there is no nonce: equal payloads give equal tokens"),
		codecs.Disclaims(codecs.SenderAuthenticated, "one symmetric key: who can verify can sign"),
	),
}
