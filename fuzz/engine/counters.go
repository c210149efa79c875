package engine

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Overlay compiles this file into the fuzz engine too.

// Each counter is one byte. An input reaches few places, so most pages of counters are zero.
// bytes.Equal detects zero pages, and other pages are processed in lines of four words.
const (
	wordSize = 8
	lineSize = 4 * wordSize
	pageSize = 8 * lineSize
)

var (
	word  = binary.LittleEndian
	zeros [pageSize]byte
)

// roundCounters writes the highest set bit of each counter to rounded. The slices have the same
// length.
func roundCounters(rounded, counters []byte) {
	for len(counters) >= pageSize && len(rounded) >= pageSize {
		to, from := rounded[:pageSize], counters[:pageSize]
		rounded, counters = rounded[pageSize:], counters[pageSize:]
		if bytes.Equal(from, zeros[:]) {
			clear(to)
			continue
		}
		roundLines(to, from)
	}
	roundLines(rounded, counters)
}

func roundLines(rounded, counters []byte) {
	for len(counters) >= lineSize && len(rounded) >= lineSize {
		to, from := rounded[:lineSize], counters[:lineSize]
		rounded, counters = rounded[lineSize:], counters[lineSize:]
		a, b, c, d := word.Uint64(from), word.Uint64(from[wordSize:]), word.Uint64(from[2*wordSize:]), word.Uint64(from[3*wordSize:])
		if a|b|c|d == 0 {
			clear(to)
			continue
		}
		word.PutUint64(to, highestBits(a))
		word.PutUint64(to[wordSize:], highestBits(b))
		word.PutUint64(to[2*wordSize:], highestBits(c))
		word.PutUint64(to[3*wordSize:], highestBits(d))
	}
	for i, c := range counters {
		rounded[i] = byte(highestBits(uint64(c)))
	}
}

// highestBits keeps only the highest set bit of each byte of w.
func highestBits(w uint64) uint64 {
	w |= w >> 1 & 0x7f7f7f7f7f7f7f7f
	w |= w >> 2 & 0x3f3f3f3f3f3f3f3f
	w |= w >> 4 & 0x0f0f0f0f0f0f0f0f
	return w - w>>1&0x7f7f7f7f7f7f7f7f
}

// countNew returns the number of bits that are set in snapshot but not in base. The slices have
// the same length.
func countNew(base, snapshot []byte) int {
	n := 0
	for len(snapshot) >= pageSize && len(base) >= pageSize {
		s, b := snapshot[:pageSize], base[:pageSize]
		snapshot, base = snapshot[pageSize:], base[pageSize:]
		if !bytes.Equal(s, zeros[:]) {
			n += countNewInLines(b, s)
		}
	}
	return n + countNewInLines(base, snapshot)
}

func countNewInLines(base, snapshot []byte) int {
	n := 0
	for len(snapshot) >= lineSize && len(base) >= lineSize {
		s, b := snapshot[:lineSize], base[:lineSize]
		snapshot, base = snapshot[lineSize:], base[lineSize:]
		i := word.Uint64(s) &^ word.Uint64(b)
		j := word.Uint64(s[wordSize:]) &^ word.Uint64(b[wordSize:])
		k := word.Uint64(s[2*wordSize:]) &^ word.Uint64(b[2*wordSize:])
		if l := word.Uint64(s[3*wordSize:]) &^ word.Uint64(b[3*wordSize:]); i|j|k|l != 0 {
			n += bits.OnesCount64(i) + bits.OnesCount64(j) + bits.OnesCount64(k) + bits.OnesCount64(l)
		}
	}
	for i, s := range snapshot {
		n += bits.OnesCount8(s &^ base[i])
	}
	return n
}
