package framework

import (
	"time"

	"sealab/internal/lab"
)

// A Stamped is the layout of tokens that are a single encoded text:
//
//	version[1] || time[TimeSize] || nonce[NonceSize] || ciphertext || tag[TagSize]
//
// The time is in seconds since 1970, big endian.
type Stamped struct {
	Encoding                     Encoding
	TimeSize, NonceSize, TagSize int
}

// Part returns the fields of a token.
func (s Stamped) Part(version, at, nonce, body, tag []byte) Part {
	return Part{s.Encoding, []Piece{{lab.WireVersion, version}, {lab.WireTime, at}, {lab.WireNonce, nonce}, {lab.WireBody, body}, {lab.WireTag, tag}}}
}

// Fields splits the decoded bytes of a token, for Inspect. There must be enough
// bytes for every field but the ciphertext.
func (s Stamped) Fields(raw []byte) []lab.Field {
	stamp, head, end := 1+s.TimeSize, 1+s.TimeSize+s.NonceSize, len(raw)-s.TagSize
	fields := Fields([]lab.Step{lab.WireVersion, lab.WireTime}, s.Part(raw[:1], raw[1:stamp], raw[stamp:head], raw[head:end], raw[end:]))
	var seconds int64
	for _, b := range raw[1:stamp] {
		seconds = seconds<<8 | int64(b)
	}
	fields[1].Time = time.Unix(seconds, 0)
	return fields
}
