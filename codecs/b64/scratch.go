package b64

import (
	"slices"
	"sync"
)

// Scratch is working space for the binary form of one token. It holds only what
// is public: ciphertext, tags, or a payload that its token shows anyway.
type Scratch struct{ Bytes []byte }

// maxPooled is the largest capacity in bytes that is kept for reuse; a larger
// buffer goes back to the garbage collector.
const maxPooled = 1 << 20

var pool = sync.Pool{New: func() any { return &Scratch{Bytes: make([]byte, 0, 1024)} }}

// GetScratch returns empty working space. Give it back with Free.
func GetScratch() *Scratch { return pool.Get().(*Scratch) }

// Free gives the working space back. It must not be used afterwards.
func (s *Scratch) Free() {
	if cap(s.Bytes) > maxPooled {
		return
	}
	s.Bytes = s.Bytes[:0]
	pool.Put(s)
}

// Grow makes room for n more bytes.
func (s *Scratch) Grow(n int) { s.Bytes = slices.Grow(s.Bytes, n) }
