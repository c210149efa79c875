package baseline

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"hash"

	"sealab/codecs"
)

// signed is base64url(payload || tag).
type signed struct {
	mac hash.Hash
	raw []byte
	sum [sha256.Size]byte
}

func openHMAC(key []byte) (codecs.Codec, error) {
	return &signed{mac: hmac.New(sha256.New, bytes.Clone(key))}, nil
}

// tag returns the tag of payload, until the next call.
func (s *signed) tag(payload []byte) []byte {
	s.mac.Reset()
	s.mac.Write(payload)
	return s.mac.Sum(s.sum[:0])
}

func (s *signed) Seal(dst, payload []byte) ([]byte, error) {
	if n := len(payload) + sha256.Size; cap(s.raw) < n {
		s.raw = room(n)
	}
	s.raw = append(s.raw[:0], payload...)
	s.raw = append(s.raw, s.tag(payload)...)
	return appendText(dst, s.raw), nil
}

func (s *signed) Unseal(dst, token []byte) ([]byte, error) {
	var err error
	if s.raw, err = appendBytes(s.raw[:0], token); err != nil || len(s.raw) < sha256.Size {
		return dst, errRefused
	}
	n := len(s.raw) - sha256.Size
	if !hmac.Equal(s.tag(s.raw[:n]), s.raw[n:]) {
		return dst, errRefused
	}
	return append(dst, s.raw[:n]...), nil
}
