//go:build !purego

package rawjson

import (
	"slices"

	"github.com/segmentio/asm/cpu"
	"github.com/segmentio/asm/cpu/x86"
)

// escapeBlocks writes the escaped form of the first bytes of src to dst, 16 bytes
// of src at a time. It ends before the first byte that is not plain and has no
// escape of its own letter, with the last 15 bytes of src, or with the room in dst.
// It may write up to 32 bytes behind its result, in dst.
//
//go:noescape
func escapeBlocks(dst, src []byte, extra, high uint64, table *[256][16]byte) (read, wrote int)

// unescapeBlocks writes the text of the first bytes of src, which are plain or \".
// It ends as escapeBlocks does. No escape is cut.
//
//go:noescape
func unescapeBlocks(dst, src []byte, extra, high uint64, table *[256][8]byte) (read, wrote int)

// hasBlocks reports whether the processor has the instructions of both.
var hasBlocks = cpu.X86.Has(x86.AVX2) // it implies SSSE3 and POPCNT

// shuffles are the orders in which 8 bytes are written, by the mask of those that
// are escaped or are backslashes to leave out. The order 0x80 writes the byte 0,
// which escapeBlocks turns into a backslash.
var shuffles = func() (t struct {
	escaped [256][16]byte
	left    [256][8]byte
}) {
	for mask := range 256 {
		t.escaped[mask] = [16]byte(slices.Repeat([]byte{0x80}, 16))
		long, left := 0, 0
		for i := range byte(word) {
			if mask>>i&1 != 0 {
				long++
			} else {
				t.left[mask][left] = i
				left++
			}
			t.escaped[mask][long] = i
			long++
		}
	}
	return t
}()

// appendBlocks appends the escaped form of the first n bytes of text.
func (q *Quoting) appendBlocks(dst, text []byte) (out []byte, n int) {
	if !hasBlocks || len(text) < 2*word || cap(dst)-len(dst) < 4*word {
		return dst, 0
	}
	n, wrote := escapeBlocks(dst[len(dst):cap(dst)], text, q.extra, q.high, &shuffles.escaped)
	return dst[:len(dst)+wrote], n
}

// cutBlocks appends the text of the first n bytes of src.
func (q *Quoting) cutBlocks(dst, src []byte) (out []byte, n int) {
	if !hasBlocks || len(src) < 2*word || cap(dst)-len(dst) < 4*word {
		return dst, 0
	}
	n, wrote := unescapeBlocks(dst[len(dst):cap(dst)], src, q.extra, q.high, &shuffles.left)
	return dst[:len(dst)+wrote], n
}
