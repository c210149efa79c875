package kit

import (
	"crypto/sha256"
	"encoding/binary"
)

// A Stream is an endless stream of bytes that every language can derive:
//
//	SHA-256(label || be64(0)) || SHA-256(label || be64(1)) || ...
//
// It is for test data only. Do not derive keys from it.
type Stream struct {
	label []byte
	block uint64
	rest  []byte
}

// NewStream returns the stream under label.
func NewStream(label string) *Stream { return &Stream{label: []byte(label)} }

// Bytes returns the next n bytes.
func (s *Stream) Bytes(n int) []byte {
	for len(s.rest) < n {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(s.label[:len(s.label):len(s.label)], s.block))
		s.rest = append(s.rest, sum[:]...)
		s.block++
	}
	out := s.rest[:n:n]
	s.rest = s.rest[n:]
	return out
}

// Uint16 returns the next two bytes as a big-endian number.
func (s *Stream) Uint16() uint16 { return binary.BigEndian.Uint16(s.Bytes(2)) }
