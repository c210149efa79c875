package boundary

import (
	"container/heap"
	"context"
	"fmt"
	"sync"
	"time"
)

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
