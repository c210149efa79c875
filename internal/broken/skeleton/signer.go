package skeleton

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"sealab/codecs"
)

// SignerParts are the parts of a signed codec,
//
//	token = "fs1." || base64url(key-id[4] || payload || tag)
//	tag = mac(key, "fs1." || key-id || payload)
type SignerParts struct {
	RingParts
	// Encode writes the text of a token after its prefix, and Decode reads it.
	Encode func([]byte) string
	Decode func(string) ([]byte, bool)
	// MAC makes the tag of a message; its length is TagSize.
	MAC     func(key, message []byte) []byte
	TagSize int
	// Message returns the bytes that the tag covers.
	Message func(id, payload []byte) []byte
	// Equal compares the presented tag with the right one.
	Equal func(presented, right []byte) bool
	// Carried returns the bytes that represent a payload in the token.
	Carried func(payload []byte) []byte
	// Unpacked returns the payload that carried bytes represent.
	Unpacked func(carried []byte) []byte
	// Also returns a second tag that is accepted.
	Also func(key, message []byte) []byte
	// Judged returns the text that is verified in place of a presented token.
	Judged func(token []byte) []byte
	// Refuse returns the answer to a wrong tag.
	Refuse func(e *Entry, presented, right, payload []byte) error
	// Release returns the bytes that accompany a refusal.
	Release func(dst, payload []byte) []byte
}

// SignerPrefix is the text in front of a signed token.
const SignerPrefix = "fs1."

func soundSigner() SignerParts {
	return SignerParts{
		RingParts: SoundRing(),
		Encode:    base64.RawURLEncoding.EncodeToString,
		Decode:    DecodeCanonical,
		MAC:       HMAC,
		TagSize:   sha256.Size,
		Message:   func(id, payload []byte) []byte { return slices.Concat([]byte(SignerPrefix), id, payload) },
		Equal:     hmac.Equal,
		Carried:   func(payload []byte) []byte { return payload },
		Unpacked:  func(carried []byte) []byte { return carried },
		Also:      HMAC,
		Judged:    func(token []byte) []byte { return token },
		Refuse:    func(*Entry, []byte, []byte, []byte) error { return ErrUnauthentic },
		Release:   func(dst, _ []byte) []byte { return dst },
	}
}

type signer struct {
	SignerParts
	ring *Ring
}

func (p SignerParts) open(c codecs.Config) (codecs.Codec, error) {
	r, err := p.RingParts.Open(c.Secrets)
	if err != nil {
		return nil, err
	}
	return &signer{p, r}, nil
}

// Seal implements codecs.Codec.
func (s *signer) Seal(dst, payload []byte) ([]byte, error) {
	e := s.First(s.ring)
	payload = s.Carried(payload)
	raw := slices.Concat(e.ID, payload, s.MAC(e.Key, s.Message(e.ID, payload)))
	return append(dst, SignerPrefix+s.Encode(raw)...), nil
}

// Unseal implements codecs.Codec.
func (s *signer) Unseal(dst, token []byte) ([]byte, error) {
	text, ok := strings.CutPrefix(string(s.Judged(token)), SignerPrefix)
	if !ok {
		return dst, ErrMalformed
	}
	raw, ok := s.Decode(text)
	if !ok || len(raw) < IDSize+s.TagSize {
		return dst, ErrMalformed
	}
	e := s.Lookup(s.ring, raw[:IDSize])
	if e == nil {
		return dst, errUnknownKey
	}
	payload, tag := raw[IDSize:len(raw)-s.TagSize], raw[len(raw)-s.TagSize:]
	right := s.MAC(e.Key, s.Message(raw[:IDSize], payload))
	if !s.Equal(tag, right) && !hmac.Equal(tag, s.Also(e.Key, s.Message(raw[:IDSize], payload))) {
		return s.Release(dst, payload), s.Refuse(e, tag, right, payload)
	}
	return append(dst, s.Unpacked(payload)...), nil
}

// signedGuarantees are the guarantees that the author of a signed codec would claim.
var signedGuarantees = slices.Concat(
	codecs.Holds(codecs.Integrity, codecs.Canonical, codecs.Rotation, codecs.KeySeparation, codecs.KeyCommitting,
		codecs.UniformRefusal, codecs.SteadyTiming, codecs.Total, codecs.ByteExact, codecs.StrongKeys),
	codecs.HoldsBecause(codecs.NonceMisuseResistant, "there is no nonce"),
	codecs.Disclaims(codecs.Confidentiality, "the payload is readable"),
	codecs.Disclaims(codecs.FreshNonces, "there is no nonce"),
	codecs.Disclaims(codecs.SenderAuthenticated, "who can verify can sign"),
)

// NewSigner returns a control on the skeleton of a signed codec.
func NewSigner(name, doc string, broken []codecs.Property, attacks []string, mistake func(*SignerParts)) Control {
	parts := soundSigner()
	mistake(&parts)
	return NewControl(name, doc, codecs.Design{Prefix: SignerPrefix, NewCodec: parts.open}, signedGuarantees, broken, attacks)
}
