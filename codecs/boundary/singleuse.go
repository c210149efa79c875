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

// An ID names one minted token. It is random and sealed with the state. All
// encodings of a token that a lenient scheme accepts share its ID.
type ID [16]byte

// A Use is one presentation of a token.
type Use struct {
	ID ID
	// Principal is a digest of the principal's name, or zero if there is none.
	Principal [16]byte
	Now       time.Time
	// Until is the time from which every server of the fleet refuses the token.
	// It is sealed in the token, so that it does not depend on the TTL of the
	// verifying server.
	Until time.Time
}

// A Store records the tokens that were used. It must be safe for concurrent
// use.
type Store interface {
	// Spend records a use and reports whether it is the first of its ID. The
	// store may forget the record at u.Until. If Spend fails, the token is
	// refused; the text of the error is logged only if it is a [Cause].
	Spend(ctx context.Context, u Use) (first bool, err error)
}

// clockSkew is the maximum difference between the clock of a server and the
// true time. A record outlives its token by twice the skew, so that a server
// whose clock is behind finds the record of one whose clock is ahead.
const clockSkew = time.Minute

// singleUseAudience is appended to the audience of single-use tokens. If the
// scheme binds the audience, servers with and without a store therefore refuse
// each other's tokens.
const singleUseAudience = " (single use)"

// singleUseMark begins the states of single-use tokens and no others. It
// separates the two kinds under a scheme that does not bind the audience.
const singleUseMark = "once1."

// A singleUseHeader is the authenticated header of a single-use token: its ID,
// and its end of life in Unix seconds.
type singleUseHeader [len(ID{}) + 8]byte

var (
	headerEncoding = base64.RawURLEncoding.Strict()
	headerSize     = len(singleUseMark) + headerEncoding.EncodedLen(len(singleUseHeader{})) + len(".")
)

// addSingleUseHeader returns the state with a fresh ID in front:
//
//	"once1." || base64url(id[16] || until[8]) || "." || state
//
// with until in Unix seconds, big-endian.
func addSingleUseHeader(state []byte, until time.Time) []byte {
	var n singleUseHeader
	keyring.Random(n[:len(ID{})])
	binary.BigEndian.PutUint64(n[len(ID{}):], uint64(until.Unix()))
	out := append(make([]byte, 0, headerSize+len(state)), singleUseMark...)
	out = headerEncoding.AppendEncode(out, n[:])
	return append(append(out, '.'), state...)
}

// requireNoHeader returns state unchanged. It refuses one
// with a single-use header.
func requireNoHeader(state []byte) ([]byte, error) {
	if bytes.HasPrefix(state, []byte(singleUseMark)) {
		return nil, errSingleUseState
	}
	return state, nil
}

// spend parses an authenticated state and spends its ID.
func (r *Round) spend(ctx context.Context, authentic []byte, event *Event) ([]byte, error) {
	u, state, ok := parseSingleUseState(authentic)
	if !ok {
		return nil, errNoSingleUseHeader
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

// spendWithin calls the store and waits for its answer until ctx ends. Some
// database clients ignore the context while they read an answer.
func spendWithin(ctx context.Context, store Store, u Use) (first bool, err error) {
	type answer struct {
		first bool
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		first, err := recoverPanic(func() (bool, error) { return store.Spend(ctx, u) })
		answers <- answer{first, err}
	}()
	select {
	case a := <-answers:
		return a.first, a.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// parseSingleUseState parses a state that addSingleUseHeader returned.
func parseSingleUseState(authentic []byte) (u Use, state []byte, ok bool) {
	if len(authentic) < headerSize || authentic[headerSize-1] != '.' || !bytes.HasPrefix(authentic, []byte(singleUseMark)) {
		return u, nil, false
	}
	var n singleUseHeader
	if size, err := headerEncoding.Decode(n[:], authentic[len(singleUseMark):headerSize-1]); err != nil || size != len(n) {
		return u, nil, false
	}
	copy(u.ID[:], n[:])
	u.Until = time.Unix(int64(binary.BigEndian.Uint64(n[len(ID{}):])), 0)
	return u, authentic[headerSize:], true
}

// Memory is a Store in the memory of one process: tokens are single-use only in
// that process and only until it ends. It holds a bounded number of records, of
// about 150 bytes each, and drops them when their tokens have expired.
//
// It tolerates a clock that goes back: it refuses every token that expires no
// later than a dropped record.
type Memory struct {
	limit, quota int

	mu         sync.Mutex
	used       map[ID]struct{}
	principals map[[16]byte]int // number of records per principal
	byUntil    records
	horizon    time.Time // the latest until of all dropped records
}

// NewMemory returns a Memory of at most limit records, and at most quota
// records per principal. All requests without a principal count as one
// principal. Further tokens are refused until records expire.
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
	// Compare wall clock times, as the scheme does.
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

// records is a min-heap by expiry. It implements heap.Interface.
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
