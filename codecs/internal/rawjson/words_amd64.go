//go:build !purego

package rawjson

import "golang.org/x/sys/cpu"

// escapeAVX512 writes the escaped form of the first bytes of src to dst. It ends before
// the first byte that is not plain, has no escape of its own letter, and does not begin a
// character that short returns, or with the room in dst. It may write up to Slack bytes
// behind its result, in dst.
//
//go:noescape
func escapeAVX512(dst, src []byte, extra, high uint64) (read, wrote int)

// unescapeAVX512 writes the text of the first bytes of src, which are plain, \", or the
// escape of a character that short returns. It ends as escapeAVX512 does. No escape is cut.
//
//go:noescape
func unescapeAVX512(dst, src []byte, extra, high uint64) (read, wrote int)

// escapeAVX2 and unescapeAVX2 do the same for whole blocks of src while dst has room for
// Slack bytes.
//
//go:noescape
func escapeAVX2(dst, src []byte, extra, high uint64) (read, wrote int)

//go:noescape
func unescapeAVX2(dst, src []byte, extra, high uint64) (read, wrote int)

// The sizes of blocks in bytes.
const (
	escapeBlock   = 32
	unescapeBlock = 64
)

// The processor has the instructions of both functions.
var (
	hasAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT
	hasAVX512 = hasAVX2 && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VBMI2
)

// For the bits that are set in an index, compressing has the places of the other bytes of
// a word. Expanding has, in a word whose bytes have a backslash before each, the places of
// all bytes and of the backslashes before those.
//
//lint:ignore U1000 words_amd64.s reads them
var compressing, expanding = func() (compressing [256][word]byte, expanding [256][2 * word]byte) {
	for bits := range 256 {
		kept, all := 0, 0
		for at := range word {
			if bits>>at&1 == 0 {
				compressing[bits][kept] = byte(at)
				kept++
			} else {
				expanding[bits][all] = byte(2 * at)
				all++
			}
			expanding[bits][all] = byte(2*at + 1)
			all++
		}
	}
	return compressing, expanding
}()

// appendBlocks appends the escaped form of the first n bytes of text.
func (q *Quoting) appendBlocks(dst, text []byte) (out []byte, n int) {
	room, wrote := dst[len(dst):cap(dst)], 0
	switch {
	case hasAVX512:
		n, wrote = escapeAVX512(room, text, q.extra, q.high)
	case hasAVX2 && len(room) >= Slack:
		var last [escapeBlock]byte // zeros, which stop, behind the last bytes
		if len(text) < len(last) {
			copy(last[:], text)
			text = last[:]
		}
		n, wrote = escapeAVX2(room, text, q.extra, q.high)
	default:
		return q.appendWords(dst, text)
	}
	return dst[:len(dst)+wrote], n
}

// cutBlocks appends the text of the first n bytes of src.
func (q *Quoting) cutBlocks(dst, src []byte) (out []byte, n int) {
	room, wrote := dst[len(dst):cap(dst)], 0
	switch {
	case hasAVX512:
		n, wrote = unescapeAVX512(room, src, q.extra, q.high)
	case hasAVX2 && len(room) >= Slack:
		var last [unescapeBlock]byte // zeros, which stop, behind the last bytes
		if len(src) < len(last) {
			copy(last[:], src)
			src = last[:]
		}
		n, wrote = unescapeAVX2(room, src, q.extra, q.high)
	default:
		return q.cutBytes(dst, src)
	}
	return dst[:len(dst)+wrote], n
}
