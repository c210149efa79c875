//go:build !purego

package rawjson

import "golang.org/x/sys/cpu"

// escapeAVX512 writes the escaped form of the first bytes of src to dst. It
// handles plain bytes, " and \, and characters that short returns. It stops
// before any other byte, or if dst has no room. It may write up to Slack bytes
// after its result.
//
//go:noescape
func escapeAVX512(dst, src []byte, extra, high uint64) (read, wrote int)

// unescapeAVX512 writes the text of the first bytes of src, which are plain, \", or the
// escape of a character that short returns. It ends as escapeAVX512 does. No escape is cut.
//
//go:noescape
func unescapeAVX512(dst, src []byte, extra, high uint64) (read, wrote int)

// escapeAVX2 and unescapeAVX2 do the same for whole blocks of src while dst has
// room for Slack bytes.
//
//go:noescape
func escapeAVX2(dst, src []byte, extra, high uint64) (read, wrote int)

//go:noescape
func unescapeAVX2(dst, src []byte, extra, high uint64) (read, wrote int)

// The block sizes in bytes.
const (
	escapeBlock   = 32
	unescapeBlock = 64
)

// Whether the processor has the instructions of both functions.
var (
	hasAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT
	hasAVX512 = hasAVX2 && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VBMI2
)

// compressing maps a mask of bytes in a word to the indexes of the other bytes.
// expanding applies to a word with a backslash before each byte: it has the
// indexes of all bytes, and of the backslashes before the bytes in the mask.
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

// appendBlocks appends the escaped form of the first n bytes of text, block by
// block.
func (q *Quoting) appendBlocks(dst, text []byte) (out []byte, n int) {
	room, wrote := dst[len(dst):cap(dst)], 0
	switch {
	case hasAVX512:
		n, wrote = escapeAVX512(room, text, q.extra, q.high)
	case hasAVX2 && len(room) >= Slack:
		var last [escapeBlock]byte // zeros after the last bytes, which stop the loop
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

// cutBlocks appends the text of the first n bytes of src, block by block.
func (q *Quoting) cutBlocks(dst, src []byte) (out []byte, n int) {
	room, wrote := dst[len(dst):cap(dst)], 0
	switch {
	case hasAVX512:
		n, wrote = unescapeAVX512(room, src, q.extra, q.high)
	case hasAVX2 && len(room) >= Slack:
		var last [unescapeBlock]byte // zeros after the last bytes, which stop the loop
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
