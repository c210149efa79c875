package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/bits"
	"runtime/coverage"
)

// Overlay also compiles this file into the fuzz engine.

// A counter is one byte. One input runs few places, so most pages of counters
// are zero: bytes.Equal finds those, and the others are read by lines of four
// words.
const (
	wordSize = 8
	lineSize = 4 * wordSize
	pageSize = 8 * lineSize
)

var (
	word  = binary.LittleEndian
	zeros [pageSize]byte
)

// roundCounters writes the highest set bit of each counter to rounded, which has
// the same length.
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

// highestBits keeps the highest set bit of each byte of w.
func highestBits(w uint64) uint64 {
	w |= w >> 1 & 0x7f7f7f7f7f7f7f7f
	w |= w >> 2 & 0x3f3f3f3f3f3f3f3f
	w |= w >> 4 & 0x0f0f0f0f0f0f0f0f
	return w - w>>1&0x7f7f7f7f7f7f7f7f
}

// countNew returns the number of bits in snapshot that base, which has the same
// length, does not have.
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
		l := word.Uint64(s[3*wordSize:]) &^ word.Uint64(b[3*wordSize:])
		if i|j|k|l != 0 {
			n += bits.OnesCount64(i) + bits.OnesCount64(j) + bits.OnesCount64(k) + bits.OnesCount64(l)
		}
	}
	for i, s := range snapshot {
		n += bits.OnesCount8(s &^ base[i])
	}
	return n
}

// A Feature is one place in the code with its number of executions, rounded to a
// power of two.
type Feature struct {
	pkg, function, counter uint32
	log2                   int
}

// Features calls run and returns the features that it covered. The program must
// be built with -cover -covermode=atomic and must not be a test: a test cannot
// read its counters before its end. If the format of the counters is unknown, the
// result is one feature, a digest of all counters.
func Features(run func() error) ([]Feature, error) {
	if err := coverage.ClearCounters(); err != nil {
		return nil, fmt.Errorf("clearing the coverage counters: %w", err)
	}
	if err := run(); err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if err := coverage.WriteCounters(&file); err != nil {
		return nil, fmt.Errorf("reading the coverage counters: %w", err)
	}
	if all, err := parseCounters(file.Bytes()); err == nil {
		return all, nil
	}
	h := fnv.New64a()
	h.Write(file.Bytes()) //nolint:errcheck // documented never to fail
	digest := h.Sum64()
	return []Feature{{pkg: uint32(digest >> 32), function: uint32(digest)}}, nil
}

// The counter file of internal/coverage since Go 1.20: a header of 32 bytes, a
// segment header of 16 bytes, two tables with their lengths in the segment
// header, padding to four bytes, and one record per function that ran: number of
// counters, package, function, counters; as LEB128 or as 32-bit numbers.
const (
	countersHeader  = 32
	countersVersion = 1
	segmentHeader   = 16
	flavorRaw       = 1
	flavorLEB128    = 2
)

var (
	countersMagic = []byte{0, 'c', 'w', 'm'}
	errCounters   = errors.New("unknown format of coverage counters")
)

func parseCounters(file []byte) ([]Feature, error) {
	if len(file) < countersHeader+segmentHeader || !bytes.HasPrefix(file, countersMagic) ||
		binary.LittleEndian.Uint32(file[4:]) != countersVersion || file[25] != 0 {
		return nil, errCounters
	}
	r := counterReader{file: file, flavor: file[24]}
	segment := file[countersHeader:]
	functions := binary.LittleEndian.Uint64(segment)
	tables := uint64(binary.LittleEndian.Uint32(segment[8:])) + uint64(binary.LittleEndian.Uint32(segment[12:]))
	if tables > uint64(len(file)) {
		return nil, errCounters
	}
	r.at = (countersHeader + segmentHeader + int(tables) + 3) &^ 3
	var all []Feature
	for range functions {
		n := r.number()
		f := Feature{pkg: r.number(), function: r.number()}
		for i := range n {
			if times := r.number(); times > 0 {
				f.counter, f.log2 = i, bits.Len32(times)
				all = append(all, f)
			}
			if r.short {
				return nil, errCounters
			}
		}
	}
	return all, nil
}

type counterReader struct {
	file   []byte
	at     int
	flavor byte
	short  bool // the file ended early
}

func (r *counterReader) number() uint32 {
	rest := r.file[min(r.at, len(r.file)):]
	switch {
	case r.flavor == flavorRaw && len(rest) >= 4:
		r.at += 4
		return binary.LittleEndian.Uint32(rest)
	case r.flavor == flavorLEB128:
		if n, size := binary.Uvarint(rest); size > 0 {
			r.at += size
			return uint32(n)
		}
	}
	r.short = true
	return 0
}
