package base64url

import (
	"bytes"
	"slices"
	"sync"

	"sealab/codecs/internal/rawjson"
)

// Scratch is working space for the binary form of one token: ciphertext, tags,
// or a payload that is readable in the token. Call Wipe after it held any other
// payload.
type Scratch struct {
	Bytes []byte
	pool  *sync.Pool
}

const (
	// firstSize is the capacity in bytes of new working space.
	firstSize = 4096
	// maxPooled is the maximum capacity in bytes of working space that is kept
	// for reuse.
	maxPooled = 1 << 20
)

var outer, inner = newPool(), newPool()

func newPool() *sync.Pool {
	p := new(sync.Pool)
	p.New = func() any { return &Scratch{make([]byte, 0, firstSize), p} }
	return p
}

// GetScratch returns empty working space. Return it with Free.
func GetScratch() *Scratch { return outer.Get().(*Scratch) }

// GetInner returns empty working space for a function that calls no other user
// of working space, while its callers may hold some from GetScratch. Two pools
// are faster than one: a pool keeps one object per processor without
// synchronization.
func GetInner() *Scratch { return inner.Get().(*Scratch) }

// Free returns the working space to its pool. It must not be used afterwards.
func (s *Scratch) Free() {
	if cap(s.Bytes) > maxPooled {
		return
	}
	s.Bytes = s.Bytes[:0]
	s.pool.Put(s)
}

// Wipe clears the working space and frees it. Call it if the space held a
// secret. used is the maximum length that Bytes had, if it is shorter now.
// Earlier users have cleared the rest, so a short token does not pay for the
// room of a long one.
func (s *Scratch) Wipe(used int) {
	clear(s.Bytes[:min(max(len(s.Bytes), used)+rawjson.Slack, cap(s.Bytes))])
	s.Free()
}

// Grow makes room for n more bytes.
func (s *Scratch) Grow(n int) { s.Bytes = slices.Grow(s.Bytes, n) }

// Decode appends the decoded bytes of src to Bytes. If src is not canonical, it
// reports false and leaves Bytes unchanged.
func (s *Scratch) Decode(src []byte) (ok bool) {
	s.Grow(DecodedLen(len(src)))
	s.Bytes, ok = AppendDecode(s.Bytes, src)
	return ok
}

// DecodeToken decodes the text of token after prefix, as Decode does. It also
// reports false if Bytes then has fewer than least bytes.
func (s *Scratch) DecodeToken(prefix string, token []byte, least int) bool {
	text, ok := bytes.CutPrefix(token, []byte(prefix))
	if !ok {
		return false
	}
	return s.Decode(text) && len(s.Bytes) >= least
}
