//go:build !purego

package rawjson

import (
	"github.com/segmentio/asm/cpu"
	"github.com/segmentio/asm/cpu/x86"
)

// escapeBlocks writes the escaped form of the first bytes of src to dst, 32 bytes of
// src at a time. It ends before the first byte that is not plain, has no escape of its
// own letter, and does not begin a character that short returns, or with the room in
// dst. It may write up to 32 bytes behind its result, in dst.
//
//go:noescape
func escapeBlocks(dst, src []byte, extra, high uint64) (read, wrote int)

// unescapeBlocks writes the text of the first bytes of src, which are plain, \", or the
// escape of a character that short returns, 64 bytes at a time. It ends as escapeBlocks
// does. No escape is cut.
//
//go:noescape
func unescapeBlocks(dst, src []byte, extra, high uint64) (read, wrote int)

// hasBlocks reports whether the processor has the instructions of both: VBMI2 comes
// with BMI2.
var hasBlocks = cpu.X86.Has(x86.AVX512BW) && cpu.X86.Has(x86.AVX512VL) && cpu.X86.Has(x86.AVX512VBMI2)

// appendBlocks appends the escaped form of the first n bytes of text.
func (q *Quoting) appendBlocks(dst, text []byte) (out []byte, n int) {
	if !hasBlocks {
		return q.appendWords(dst, text)
	}
	n, wrote := escapeBlocks(dst[len(dst):cap(dst)], text, q.extra, q.high)
	return dst[:len(dst)+wrote], n
}

// cutBlocks appends the text of the first n bytes of src.
func (q *Quoting) cutBlocks(dst, src []byte) (out []byte, n int) {
	if !hasBlocks {
		return q.cutBytes(dst, src)
	}
	n, wrote := unescapeBlocks(dst[len(dst):cap(dst)], src, q.extra, q.high)
	return dst[:len(dst)+wrote], n
}
