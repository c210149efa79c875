package boundary

import (
	"container/heap"
	"context"
	"fmt"
	"sync"
	"time"
)

// errFull refuses tokens while a Memory holds as many live records as it may.
// To forget a live record instead would let its token be used again.
const errFull = cause("the store of used tokens is full")

// Memory is a Store in the memory of one process: tokens are single-use there
// and nowhere else, and until it ends. It holds a bounded number of records,
// about 100 bytes each, and forgets a record when its token has expired.
type Memory struct {
	limit int

	mu      sync.Mutex
	used    map[ID]struct{}
	byUntil records
}

// NewMemory returns a Memory of at most limit live records. Tokens beyond that
// are refused until some expire, so limit is at least the number of rounds that
// all clients finish within a token's lifetime.
func NewMemory(limit int) (*Memory, error) {
	if limit < 1 {
		return nil, fmt.Errorf("sealab: boundary: a store of %d tokens: want at least 1", limit)
	}
	return &Memory{limit: limit, used: make(map[ID]struct{})}, nil
}

// Spend implements Store.
func (m *Memory) Spend(_ context.Context, id ID, now, until time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.byUntil) > 0 && !now.Before(m.byUntil[0].until) {
		delete(m.used, heap.Pop(&m.byUntil).(record).id)
	}
	if _, spent := m.used[id]; spent {
		return false, nil
	}
	if len(m.used) >= m.limit {
		return false, errFull
	}
	m.used[id] = struct{}{}
	heap.Push(&m.byUntil, record{id, until})
	return true, nil
}

// Len returns the number of records held.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.used)
}

type record struct {
	id    ID
	until time.Time
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
