package mcp

import (
	"cmp"
	"sync"
)

// A memory has texts by key, which the server remembers. Calls at the same time may use it.
type memory struct {
	mu    sync.Mutex
	texts map[string]string
}

// change replaces a text and returns the new one. A text that is not there is empty.
func (m *memory) change(key string, to func(old string) string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.texts == nil {
		m.texts = map[string]string{}
	}
	m.texts[key] = to(m.texts[key])
	return m.texts[key]
}

// get returns a text, or "".
func (m *memory) get(key string) string { return m.change(key, func(old string) string { return old }) }

// put replaces a text.
func (m *memory) put(key, text string) { m.change(key, func(string) string { return text }) }

// add appends to a text and returns the whole.
func (m *memory) add(key, more string) string {
	return m.change(key, func(old string) string { return old + more })
}

// first keeps the first text of a key that is not empty, and returns it.
func (m *memory) first(key, text string) string {
	return m.change(key, func(old string) string { return cmp.Or(old, text) })
}
