package boundary

import (
	"bytes"
	"container/heap"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"sealab/codecs/internal/keyring"
)

// An ID names one minted token. It is random, sealed with the state, and so
// authenticated: the encodings of a token, however many a lenient scheme
// accepts, share it.
type ID [16]byte

// A Use is the use of one token.
type Use struct {
	ID ID
	// Principal is a digest of the principal's name, zero if absent.
	Principal [16]byte
	Now       time.Time
	// Until is the time from which every server of the fleet refuses the token.
	// It is sealed in the token, so that it does not depend on the TTL of the
	// server that verifies.
	Until time.Time
}

// A Store remembers the tokens that were used. Its methods are called
// concurrently.
type Store interface {
	// Spend records a use and reports whether it is the first of its ID. The
	// record may be forgotten at u.Until. On an error the token is refused; a
	// [Cause] is logged in words.
	Spend(ctx context.Context, u Use) (first bool, err error)
}

// skew is how far the clock of a server may be from the true time. A record
// outlives its token by two of them, so that a server that is behind finds the
// record of one that is ahead.
const skew = time.Minute

// singleUseAudience ends the audience of single-use tokens, so that a server
// without a store and one with a store refuse each other's tokens, as far as the
// scheme binds the audience.
const singleUseAudience = " (single use)"

// mark begins the states of single-use tokens and no other states, so that the
// two kinds differ under a scheme that does not bind the audience.
const mark = "once1."

// number is the authenticated header of a single-use token.
type number [len(ID{}) + 8]byte

var (
	numberEncoding = base64.RawURLEncoding.Strict()
	headerSize     = len(mark) + numberEncoding.EncodedLen(len(number{})) + len(".")
)

// numbered returns the state under a fresh ID:
//
//	"once1." || base64url(id[16] || until[8]) || "." || state
//
// with until in Unix seconds, big-endian.
func numbered(state []byte, until time.Time) []byte {
	var n number
	keyring.Random(n[:len(ID{})])
	binary.BigEndian.PutUint64(n[len(ID{}):], uint64(until.Unix()))
	out := append(make([]byte, 0, headerSize+len(state)), mark...)
	out = numberEncoding.AppendEncode(out, n[:])
	return append(append(out, '.'), state...)
}

// unnumbered returns a state that is not numbered as it is.
func unnumbered(state []byte) ([]byte, error) {
	if bytes.HasPrefix(state, []byte(mark)) {
		return nil, errNumbered
	}
	return state, nil
}

// spend takes the number off an authenticated state and uses it up.
func (r *Round) spend(ctx context.Context, authentic []byte, event *Event) ([]byte, error) {
	u, state, ok := parseNumbered(authentic)
	if !ok {
		return nil, errUnnumbered
	}
	u.Now = r.context.Now
	if !u.Now.Before(u.Until) {
		return nil, errOutlived // the scheme's TTL is longer than the policy's
	}
	if r.context.Principal != nil {
		sum := sha256.Sum256([]byte(*r.context.Principal))
		copy(u.Principal[:], sum[:])
	}
	policy := &r.boundary.policy
	ctx, cancel := context.WithTimeout(ctx, policy.StoreTimeout)
	defer cancel()
	start := policy.Now()
	first, err := spendWithin(ctx, policy.Store, u)
	event.Store = max(policy.Now().Sub(start), 1)
	if err != nil {
		return nil, err
	}
	if !first {
		return nil, errSpent
	}
	return state, nil
}

// spendWithin calls a store, and waits for its answer until ctx ends. Clients of
// databases do not all heed a context while they read an answer.
func spendWithin(ctx context.Context, store Store, u Use) (first bool, err error) {
	type answer struct {
		first bool
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		first, err := guard(func() (bool, error) { return store.Spend(ctx, u) })
		answers <- answer{first, err}
	}()
	select {
	case a := <-answers:
		return a.first, a.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// parseNumbered is the inverse of numbered.
func parseNumbered(authentic []byte) (u Use, state []byte, ok bool) {
	if len(authentic) < headerSize || authentic[headerSize-1] != '.' || !bytes.HasPrefix(authentic, []byte(mark)) {
		return u, nil, false
	}
	var n number
	if size, err := numberEncoding.Decode(n[:], authentic[len(mark):headerSize-1]); err != nil || size != len(n) {
		return u, nil, false
	}
	copy(u.ID[:], n[:])
	u.Until = time.Unix(int64(binary.BigEndian.Uint64(n[len(ID{}):])), 0)
	return u, authentic[headerSize:], true
}

// Memory is a Store in the memory of one process: tokens are single-use there
// and nowhere else, and until it ends. It holds a bounded number of records,
// about 150 bytes each, and forgets them when their tokens have expired.
//
// It does not depend on a steady clock: a token that expires before one whose
// record was forgotten is refused, also if the clock has gone back since.
type Memory struct {
	limit, quota int

	mu         sync.Mutex
	used       map[ID]struct{}
	principals map[[16]byte]int // records of each
	byUntil    records
	horizon    time.Time // the latest until of all records that were forgotten
}

// NewMemory returns a Memory of at most limit records, of which one principal
// has quota at most; all requests without a principal are one principal. Tokens
// beyond that are refused until some expire.
func NewMemory(limit, quota int) (*Memory, error) {
	if limit < 1 || quota < 1 || quota > limit {
		return nil, fmt.Errorf("boundary: a store of %d tokens with %d for each principal: want at least 1 of each, and no more of the second", limit, quota)
	}
	return &Memory{limit: limit, quota: quota, used: map[ID]struct{}{}, principals: map[[16]byte]int{}}, nil
}

// Spend implements Store.
func (m *Memory) Spend(_ context.Context, u Use) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// The wall clock decides, as it does in the scheme.
	now, until := u.Now.Round(0), u.Until.Round(0)
	for len(m.byUntil) > 0 && !now.Before(m.byUntil[0].until) {
		m.forget(heap.Pop(&m.byUntil).(record))
	}
	if _, spent := m.used[u.ID]; spent || !until.After(m.horizon) {
		return false, nil
	}
	if len(m.used) >= m.limit {
		return false, ErrFull
	}
	if m.principals[u.Principal] >= m.quota {
		return false, ErrQuota
	}
	m.used[u.ID] = struct{}{}
	m.principals[u.Principal]++
	heap.Push(&m.byUntil, record{u.ID, u.Principal, until})
	return true, nil
}

func (m *Memory) forget(r record) {
	delete(m.used, r.id)
	if m.principals[r.principal]--; m.principals[r.principal] == 0 {
		delete(m.principals, r.principal)
	}
	if r.until.After(m.horizon) {
		m.horizon = r.until
	}
}

// Len returns the number of records held.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.used)
}

type record struct {
	id        ID
	principal [16]byte
	until     time.Time
}

// records is a heap of the records, those that expire first on top. It
// implements heap.Interface.
type records []record

func (r records) Len() int           { return len(r) }
func (r records) Less(i, j int) bool { return r[i].until.Before(r[j].until) }
func (r records) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *records) Push(x any)        { *r = append(*r, x.(record)) }
func (r *records) Pop() any {
	last := len(*r) - 1
	x := (*r)[last]
	*r = (*r)[:last]
	return x
}
