package base64url

import (
	"bytes"
	"sync"

	"sealab/codecs/internal/rawjson"
)

// Scratch is working space for the binary form of one token: ciphertext, tags,
// or a payload that its token shows anyway. Wipe clears other payloads.
type Scratch struct {
	Bytes []byte
	pool  *sync.Pool
}

const (
	// lead is the number of unused bytes before Bytes. The vector encoder's first
	// load is masked and reaches 4 bytes back. If Bytes began on a page whose
	// predecessor was never touched, that load took some 140 ns more.
	lead = 64
	// firstSize is the capacity in bytes of new working space.
	firstSize = 4096
	// maxPooled is the largest capacity in bytes that is kept for reuse; a
	// larger buffer goes back to the garbage collector.
	maxPooled = 1 << 20
)

var outer, inner = newPool(), newPool()

func newPool() *sync.Pool {
	p := new(sync.Pool)
	p.New = func() any { return &Scratch{space(firstSize), p} }
	return p
}

func space(n int) []byte { return make([]byte, lead+n)[lead:lead] }

// GetScratch returns empty working space. Give it back with Free.
func GetScratch() *Scratch { return outer.Get().(*Scratch) }

// GetInner is GetScratch for a function that calls no other holder of working space, and
// whose callers may hold some of GetScratch. A pool hands out one object for each processor
// without synchronisation, and further ones, of any size, with it.
func GetInner() *Scratch { return inner.Get().(*Scratch) }

// Free gives the working space back. It must not be used afterwards.
func (s *Scratch) Free() {
	if cap(s.Bytes) > maxPooled {
		return
	}
	s.Bytes = s.Bytes[:0]
	s.pool.Put(s)
}

// Wipe clears the working space and gives it back. Use it if a secret was there.
// used is the largest length that Bytes had, if it is shorter now. Users before have
// cleared the rest, so that a short token does not pay for the room of a long one.
func (s *Scratch) Wipe(used int) {
	clear(s.Bytes[:min(max(len(s.Bytes), used)+rawjson.Slack, cap(s.Bytes))])
	s.Free()
}

// Grow makes room for n more bytes.
func (s *Scratch) Grow(n int) {
	if need := len(s.Bytes) + n; need > cap(s.Bytes) {
		s.Bytes = append(space(max(need, 2*cap(s.Bytes))), s.Bytes...)
	}
}

// Decode appends the bytes of the text src to Bytes. It reports false, and leaves
// Bytes as it was, if src is not canonical.
func (s *Scratch) Decode(src []byte) (ok bool) {
	s.Grow(DecodedLen(len(src)))
	s.Bytes, ok = AppendDecode(s.Bytes, src)
	return ok
}

// DecodeToken is Decode for the text behind a prefix. It also reports false if Bytes
// has fewer than least bytes then.
func (s *Scratch) DecodeToken(prefix string, token []byte, least int) bool {
	text, ok := bytes.CutPrefix(token, []byte(prefix))
	if !ok {
		return false
	}
	return s.Decode(text) && len(s.Bytes) >= least
}
