package broken

import (
	"bytes"
	"sync"
)

// A memory is a list of keys that outlives the rings they were in.
type memory struct {
	mu      sync.Mutex
	entries []*entry
}

func (m *memory) add(e *entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = append(m.entries, e)
}

func (m *memory) find(id []byte) *entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries {
		if bytes.Equal(e.id, id) {
			return e
		}
	}
	return nil
}
