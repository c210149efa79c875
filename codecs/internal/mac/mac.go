// Package mac computes HMAC-SHA256 (RFC 2104, FIPS 198-1) under one key for
// many messages. It processes the key once and reuses the state.
//
// A tag has Size bytes, and a message may have any length. The designs require
// keys of at least codecs.MinSecret bytes. HMAC hashes a key over 64 bytes and
// pads a shorter one with zeros, so other keys are equivalent to it.
//
// It does not wipe memory: states of the key and the last tag of each remain in
// the process.
package mac

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"hash"
	"sync"
)

// Size is the length of a tag in bytes.
const Size = sha256.Size

// A Key computes and verifies tags. It is safe for concurrent use.
type Key struct{ states sync.Pool }

// state is a keyed HMAC with room for its result. One goroutine uses it at a
// time.
type state struct {
	hash.Hash
	sum [Size]byte
}

// New returns the Key for the given bytes, which it copies.
func New(key []byte) *Key {
	key = bytes.Clone(key)
	return &Key{sync.Pool{New: func() any { return &state{Hash: hmac.New(sha256.New, key)} }}}
}

// take returns a state whose sum is the tag of the joined parts. The caller
// returns it to the pool after it has read the sum.
func (k *Key) take(parts [][]byte) *state {
	s := k.states.Get().(*state)
	s.Reset()
	for _, p := range parts {
		s.Write(p)
	}
	s.Sum(s.sum[:0])
	return s
}

// Append appends the tag of the joined parts to dst.
func (k *Key) Append(dst []byte, parts ...[]byte) []byte {
	s := k.take(parts)
	defer k.states.Put(s)
	return append(dst, s.sum[:]...)
}

// Verify reports whether tag is the tag of the joined parts. Its time does not
// depend on how many bytes match. The correct tag is written only to the key's
// own memory.
func (k *Key) Verify(tag []byte, parts ...[]byte) bool {
	s := k.take(parts)
	defer k.states.Put(s)
	return subtle.ConstantTimeCompare(s.sum[:], tag) == 1
}

// A Ring is a list of keys, any of which may have made a tag.
type Ring []*Key

// Verify reports whether tag is the tag of the joined parts under one of the
// keys. It tries all keys, so that its time does not depend on which one
// matches.
func (r Ring) Verify(tag []byte, parts ...[]byte) bool {
	verified := false
	for _, k := range r {
		verified = k.Verify(tag, parts...) || verified
	}
	return verified
}
