package hpkesession

import (
	"sync"
	"sync/atomic"
	"time"

	"sealab/codecs/internal/keyring"
)

// rotation hands out the session that seals, and replaces it when it has sealed
// enough tokens or is too old. While a session lasts, sealing takes no lock.
type rotation struct {
	key       *ringKey
	clock     func() time.Time // nil: sessions do not age
	maxTokens int64
	current   atomic.Pointer[lease]
	renewal   sync.Mutex // one goroutine at a time sets up a session
}

// A lease is a session with the number of tokens and the time that are left.
type lease struct {
	*session
	born time.Time
	left atomic.Int64 // tokens; below 0 once it is used up
}

func (r *rotation) start(k *ringKey, clock func() time.Time) {
	r.key, r.clock, r.maxTokens = k, clock, maxTokens
}

// session returns the session for one more token.
func (r *rotation) session() (*session, error) {
	if l := r.current.Load(); l.take(r.now()) {
		return l.session, nil
	}
	r.renewal.Lock()
	defer r.renewal.Unlock()
	now := r.now() // again: a session set up while this one waited is born after the first reading
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

// take takes one token of the lease and reports whether there was one. A clock
// that stands before the lease's birth was set back: how old the lease is, it
// cannot say, so the lease ends.
func (l *lease) take(now time.Time) bool {
	if l == nil {
		return false
	}
	if age := now.Sub(l.born); age < 0 || age > maxAge {
		return false
	}
	return l.left.Add(-1) >= 0
}

// encapsulate sets up the session that seed stands for.
func encapsulate(k *ringKey, seed []byte) (*session, error) {
	enc, ctx, err := k.Encapsulate(seed)
	if err != nil {
		return nil, err
	}
	return newSession(k, enc, ctx)
}
