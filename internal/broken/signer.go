package broken

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"sealab/codecs"
)

// signerParts are the parts of a signed codec,
//
//	token = "fs1." || base64url(key-id[4] || payload || tag)
//	tag = mac(key, "fs1." || key-id || payload)
type signerParts struct {
	ringParts
	encode func([]byte) string
	decode func(string) ([]byte, bool)
	// mac makes the tag of a message; its length is tagSize.
	mac     func(key, message []byte) []byte
	tagSize int
	// message returns the bytes that the tag covers.
	message func(id, payload []byte) []byte
	// equal compares the presented tag with the right one.
	equal func(presented, right []byte) bool
	// carried returns the bytes that represent a payload in the token.
	carried func(payload []byte) []byte
	// unpacked returns the payload that carried bytes represent.
	unpacked func(carried []byte) []byte
	// also returns a second tag that is accepted.
	also func(key, message []byte) []byte
	// judged returns the text that is verified in place of a presented token.
	judged func(token []byte) []byte
	// refuse returns the answer to a wrong tag.
	refuse func(e *entry, presented, right, payload []byte) error
	// release returns the bytes that accompany a refusal.
	release func(dst, payload []byte) []byte
}

const signerPrefix = "fs1."

func soundSigner() signerParts {
	return signerParts{
		ringParts: soundRing(),
		encode:    base64.RawURLEncoding.EncodeToString,
		decode:    decodeCanonical,
		mac:       hmacSHA256,
		tagSize:   sha256.Size,
		message:   func(id, payload []byte) []byte { return slices.Concat([]byte(signerPrefix), id, payload) },
		equal:     hmac.Equal,
		carried:   func(payload []byte) []byte { return payload },
		unpacked:  func(carried []byte) []byte { return carried },
		also:      hmacSHA256,
		judged:    func(token []byte) []byte { return token },
		refuse:    func(*entry, []byte, []byte, []byte) error { return errUnauthentic },
		release:   func(dst, _ []byte) []byte { return dst },
	}
}

func hmacSHA256(key, message []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(message)
	return m.Sum(nil)
}

// decodeCanonical decodes unpadded base64url. It accepts only one spelling.
func decodeCanonical(text string) ([]byte, bool) {
	raw, err := strictBase64URL.DecodeString(text)
	skips := strings.IndexByte(text, '\r') >= 0 || strings.IndexByte(text, '\n') >= 0 // the library skips them
	return raw, err == nil && !skips
}

var strictBase64URL = base64.RawURLEncoding.Strict()

type signer struct {
	signerParts
	ring *ring
}

func (p signerParts) open(c codecs.Config) (codecs.Codec, error) {
	r, err := p.ringParts.open(c.Secrets)
	if err != nil {
		return nil, err
	}
	return &signer{p, r}, nil
}

// Seal implements codecs.Codec.
func (s *signer) Seal(dst, payload []byte) ([]byte, error) {
	e := s.first(s.ring)
	payload = s.carried(payload)
	raw := slices.Concat(e.id, payload, s.mac(e.key, s.message(e.id, payload)))
	return append(dst, signerPrefix+s.encode(raw)...), nil
}

// Unseal implements codecs.Codec.
func (s *signer) Unseal(dst, token []byte) ([]byte, error) {
	text, ok := strings.CutPrefix(string(s.judged(token)), signerPrefix)
	if !ok {
		return dst, errMalformed
	}
	raw, ok := s.decode(text)
	if !ok || len(raw) < idSize+s.tagSize {
		return dst, errMalformed
	}
	e := s.lookup(s.ring, raw[:idSize])
	if e == nil {
		return dst, errUnknownKey
	}
	payload, tag := raw[idSize:len(raw)-s.tagSize], raw[len(raw)-s.tagSize:]
	right := s.mac(e.key, s.message(raw[:idSize], payload))
	if !s.equal(tag, right) && !hmac.Equal(tag, s.also(e.key, s.message(raw[:idSize], payload))) {
		return s.release(dst, payload), s.refuse(e, tag, right, payload)
	}
	return append(dst, s.unpacked(payload)...), nil
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

// aSigner returns a control on the skeleton of a signed codec.
func aSigner(name, doc string, broken []codecs.Property, attacks []string, mistake func(*signerParts)) Control {
	parts := soundSigner()
	mistake(&parts)
	return newControl(name, doc, codecs.Design{Prefix: signerPrefix, NewCodec: parts.open}, signedGuarantees, broken, attacks)
}
