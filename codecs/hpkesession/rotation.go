package hpkesession

import (
	"bytes"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"sealab/codecs/internal/keyring"
)

// rotation provides the session that seals. It replaces the session when it has
// sealed enough tokens or is too old. Until then, sealing takes no lock.
type rotation struct {
	key       *ringKey
	clock     func() time.Time // nil: sessions do not expire
	maxTokens int64
	current   atomic.Pointer[lease]
	renewal   sync.Mutex // held while a session is set up
}

// A lease is a session with a limited number of tokens and a limited time.
type lease struct {
	*session
	born time.Time
	left atomic.Int64 // tokens; below 0 when used up
}

func (r *rotation) start(k *ringKey, clock func() time.Time) {
	r.key, r.clock, r.maxTokens = k, clock, maxTokens
}

// session returns the session for the next token.
func (r *rotation) session() (*session, error) {
	if l := r.current.Load(); l.take(r.now()) {
		return l.session, nil
	}
	r.renewal.Lock()
	defer r.renewal.Unlock()
	now := r.now() // again: another goroutine may have set up a session after the first reading
	if l := r.current.Load(); l.take(now) {
		return l.session, nil
	}
	seed := make([]byte, r.key.kem.SeedSize)
	keyring.Random(seed)
	s, err := encapsulate(r.key, seed)
	if err != nil {
		return nil, err
	}
	l := &lease{session: s, born: now}
	l.left.Store(r.maxTokens - 1)
	r.current.Store(l)
	return s, nil
}

func (r *rotation) now() time.Time {
	if r.clock == nil {
		return time.Time{}
	}
	return r.clock()
}

// take uses up one token of the lease and reports whether one was left. If the
// clock is before the lease's birth, it was set back. The age of the lease is
// then unknown, so the lease ends.
//
//mutant:equivalent leases are for minting without a seed, and vectors have seeds
func (l *lease) take(now time.Time) bool {
	if l == nil {
		return false
	}
	if age := now.Sub(l.born); age < 0 || age > maxAge {
		return false
	}
	return l.left.Add(-1) >= 0
}

// encapsulate sets up the session whose encapsulation is derived from seed.
func encapsulate(k *ringKey, seed []byte) (*session, error) {
	enc, ctx, err := k.Encapsulate(seed)
	if err != nil {
		return nil, err
	}
	return newSession(k, enc, ctx)
}

// The size of the cache: at most sets*ways sessions, each below 3 KiB.
const (
	sets = 256
	ways = 4
)

// cache holds sessions under which a token has verified. It is a
// set-associative table without locks. An encapsulation belongs to one set, and
// a new session evicts the oldest of its set. A lost race costs one more
// decapsulation.
//
// Encapsulations are public keys and therefore spread evenly over the sets. To
// fill one set on purpose, an attacker needs tokens that verify, and so the
// pre-shared key.
type cache [sets]set

type set struct {
	ways [ways]atomic.Pointer[session]
	next atomic.Uint32 // number of sessions that were put into the set
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

// put adds a session, under which a token must have verified.
func (c *cache) put(s *session) {
	if c.get(s.key, s.enc) != nil {
		return
	}
	set := c.of(s.enc)
	set.ways[(set.next.Add(1)-1)%ways].Store(s)
}
