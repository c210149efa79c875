package hpkesession

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
)

// The shape of the cache: sets*ways sessions at most, each below 3 KiB.
const (
	sets = 256
	ways = 4
)

// cache keeps the sessions under which a token has verified. It is a
// set-associative table without locks: an encapsulation has one set, and in a
// set the new displaces the oldest. A lost race costs one decapsulation more.
//
// Encapsulations are public keys and so spread evenly over the sets. To crowd
// one set on purpose takes tokens that verify, and so the pre-shared key.
type cache [sets]set

type set struct {
	ways [ways]atomic.Pointer[session]
	next atomic.Uint32 // number of contexts that were put into the set
}

func (c *cache) of(enc []byte) *set {
	return &c[binary.LittleEndian.Uint16(enc)%sets]
}

// get returns the session of an encapsulation under a ring key, or nil.
func (c *cache) get(k *ringKey, enc []byte) *session {
	s := c.of(enc)
	for i := range s.ways {
		if found := s.ways[i].Load(); found != nil && found.key == k && bytes.Equal(found.enc, enc) {
			return found
		}
	}
	return nil
}

// put keeps a session. Only one under which a token has verified may be kept.
func (c *cache) put(s *session) {
	if c.get(s.key, s.enc) != nil {
		return
	}
	set := c.of(s.enc)
	set.ways[(set.next.Add(1)-1)%ways].Store(s)
}
