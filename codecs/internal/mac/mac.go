// Package mac is HMAC-SHA256 (RFC 2104, FIPS 198-1) under one key that serves
// many messages: the key is taken in once, and its states are used again.
//
// A tag has Size bytes, and its message may have any length. Keys have at least
// codecs.MinSecret bytes by the rules of the designs; one that is longer than 64
// is hashed, and one that is shorter is padded with zeros, so that a key has
// twins.
//
// It does not wipe memory: states of the key and the last tag of each stay in the
// process.
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

// A Key makes and compares tags. It is safe for concurrent use.
type Key struct{ states sync.Pool }

// state is a keyed HMAC with room for its result, used by one goroutine at a time.
type state struct {
	hash.Hash
	sum [Size]byte
}

// New returns the key that has these bytes, which it copies.
func New(key []byte) *Key {
	key = bytes.Clone(key)
	return &Key{sync.Pool{New: func() any { return &state{Hash: hmac.New(sha256.New, key)} }}}
}

// take returns a state whose sum is the tag of the parts, joined. The caller puts
// it back when it has read the sum.
func (k *Key) take(parts [][]byte) *state {
	s := k.states.Get().(*state)
	s.Reset()
	for _, p := range parts {
		s.Write(p)
	}
	s.Sum(s.sum[:0])
	return s
}

// Append appends the tag of the parts, joined, to dst.
func (k *Key) Append(dst []byte, parts ...[]byte) []byte {
	s := k.take(parts)
	defer k.states.Put(s)
	return append(dst, s.sum[:]...)
}

// Verify reports whether tag is that of the parts, joined, in time that does not
// depend on how much of it is right. The right tag gets into no memory but the
// key's own.
func (k *Key) Verify(tag []byte, parts ...[]byte) bool {
	s := k.take(parts)
	defer k.states.Put(s)
	return subtle.ConstantTimeCompare(s.sum[:], tag) == 1
}

// A Ring is the keys under one of which a tag may be right.
type Ring []*Key

// Verify reports whether tag is that of the parts, joined, under one of the keys. It
// tries all of them, so that the time does not tell which.
func (r Ring) Verify(tag []byte, parts ...[]byte) bool {
	verified := false
	for _, k := range r {
		verified = k.Verify(tag, parts...) || verified
	}
	return verified
}
