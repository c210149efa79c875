package engine

import (
	"encoding/binary"
	"math/bits"
)

// This file is also compiled into the engine, by Overlay.

// wordSize is how many counters are read at one time: one is a byte.
const wordSize = 8

// roundCounters writes each of counters to rounded, which is as long, keeping
// only its highest bit.
func roundCounters(rounded, counters []byte) {
	for len(counters) >= wordSize && len(rounded) >= wordSize {
		w := binary.LittleEndian.Uint64(counters)
		if w != 0 { // few places run in one input
			w = highestBits(w)
		}
		binary.LittleEndian.PutUint64(rounded, w)
		rounded, counters = rounded[wordSize:], counters[wordSize:]
	}
	for i, c := range counters {
		rounded[i] = byte(highestBits(uint64(c)))
	}
}

// highestBits keeps the highest bit of each byte of w.
func highestBits(w uint64) uint64 {
	w |= w >> 1 & 0x7f7f7f7f7f7f7f7f
	w |= w >> 2 & 0x3f3f3f3f3f3f3f3f
	w |= w >> 4 & 0x0f0f0f0f0f0f0f0f
	return w - w>>1&0x7f7f7f7f7f7f7f7f
}

// countNew returns how many bits of snapshot are not in base, which is as long.
func countNew(base, snapshot []byte) int {
	n := 0
	for len(snapshot) >= wordSize && len(base) >= wordSize {
		if w := binary.LittleEndian.Uint64(snapshot) &^ binary.LittleEndian.Uint64(base); w != 0 {
			n += bits.OnesCount64(w)
		}
		base, snapshot = base[wordSize:], snapshot[wordSize:]
	}
	for i, s := range snapshot {
		n += bits.OnesCount8(s &^ base[i])
	}
	return n
}
