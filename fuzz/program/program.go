// Package program reads a fuzz input as a small program: a sequence of choices that build,
// alter and open tokens. Every input is a valid program: after its end all choices are zero.
// Any fuzzer that generates byte slices can drive it.
//
// Fuzz targets read payloads, lengths near borders, literals of the source under test, and
// alterations of tokens from it.
package program

import (
	"encoding/binary"
	"math/rand/v2"
)

// A Program is an input with a reading position.
type Program struct {
	rest, input []byte
	dear        bool // input ends with Dear
}

// The last byte of an input may be a mark for the whole input.
const (
	Dear = 0x7f // makes Seldom true; the byte itself is not a choice
	More = 0x80 // or any greater byte: the input continues with drawn choices, see Continue
)

// New returns the program of an input. It does not change the input.
func New(input []byte) *Program {
	if last := len(input) - 1; last >= 0 && input[last] == Dear {
		return &Program{input[:last], input, true}
	}
	return &Program{rest: input, input: input}
}

// Done reports whether the input is used up.
func (p *Program) Done() bool { return len(p.rest) == 0 }

// Byte returns the next byte, 0 after the end.
func (p *Program) Byte() byte {
	if len(p.rest) == 0 {
		return 0
	}
	b := p.rest[0]
	p.rest = p.rest[1:]
	return b
}

// Uint16 returns the next two bytes as a big-endian number.
func (p *Program) Uint16() int { return int(p.Byte())<<8 | int(p.Byte()) }

// Pick returns a number from 0 to n-1, from one byte if n is at most 256 and
// from two bytes otherwise. n is from 1 to 65536.
func (p *Program) Pick(n int) int {
	if n <= 256 {
		return int(p.Byte()) % n
	}
	return p.Uint16() % n
}

// Bytes returns the next bytes, at most limit. The preceding Uint16 gives their number, modulo
// limit+1. The result aliases the input and must not be changed.
func (p *Program) Bytes(limit int) []byte { return p.Take(p.Uint16() % (limit + 1)) }

// Take returns the next n bytes, or all if there are fewer. The result aliases the input and
// must not be changed.
func (p *Program) Take(n int) []byte {
	n = min(n, len(p.rest))
	b := p.rest[:n:n]
	p.rest = p.rest[n:]
	return b
}

// Rest returns all remaining bytes.
func (p *Program) Rest() []byte {
	b := p.rest
	p.rest = nil
	return b
}

// fewCounts maps the lowest four bits of a choice to a number, usually zero or one, because a
// second alteration hides the effect of the first.
var fewCounts = [16]byte{0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 2, 2, 3, 0xff}

// Few reads a small number of at most limit. The byte 0 gives zero, 1 gives one, and 15 gives
// limit.
func (p *Program) Few(limit int) int { return min(int(fewCounts[p.Byte()%16]), limit) }

// inputsPerSeldom is the average number of continuing inputs per input for which Seldom is true.
const inputsPerSeldom = 32

// Seldom chooses actions that take as long as a hundred others. It is true for inputs that end
// with Dear, and for a few inputs that continue. A digest of the whole input selects those few,
// because fuzzers copy single bytes.
func (p *Program) Seldom() bool {
	return p.dear || GoesOn(p.input) && digest(p.input)%inputsPerSeldom == 0
}

// digest is similar to FNV-1a, but processes eight bytes at a time.
func digest(b []byte) uint64 {
	const odd = 0x9e3779b97f4a7c15
	h := uint64(len(b)) * odd
	for ; len(b) >= 8; b = b[8:] {
		h = (h ^ binary.LittleEndian.Uint64(b)) * odd
		h ^= h >> 32
	}
	for _, c := range b {
		h = (h ^ uint64(c)) * odd
		h ^= h >> 32
	}
	return h * odd >> 16
}

// GoesOn reports whether Continue draws choices for input.
func GoesOn(input []byte) bool { return len(input) > 0 && input[len(input)-1] >= More }

// Explicit returns an input that encodes all choices of this one, including those drawn by
// Continue, and Dear if Seldom is true. If Continue does not draw, it returns input.
func Explicit(input []byte) []byte {
	if !GoesOn(input) {
		return input
	}
	p := New(input)
	p.Continue()
	if p.Seldom() {
		return append(p.rest, Dear)
	}
	return p.rest
}

// Continue draws a number of bytes in this range, which exceeds what most programs read.
const leastDrawn, mostDrawn = 32, 96

// Continue replaces a last byte of More or above by bytes from a generator that is seeded with
// the whole input. In half of the inputs it also replaces all other bytes, and in a quarter
// those after some offset. So any change to such an input gives a new program, either similar
// or unrelated. A fuzzer that mutates single choices stays close. The drawn bytes end with a
// zero.
func (p *Program) Continue() {
	if p.dear || !GoesOn(p.rest) {
		return
	}
	last := len(p.rest) - 1
	g := rand.NewPCG(digest(p.rest), More)
	how, kept := g.Uint64(), 0
	switch how % 4 {
	case 0:
		kept = last
	case 1:
		kept = int(g.Uint64() % uint64(last+1))
	}
	how /= 4
	n := leastDrawn + int(how%(mostDrawn-leastDrawn))
	how /= mostDrawn - leastDrawn
	program := append(make([]byte, 0, kept+n+8), p.rest[:kept]...)
	for ; len(program) < kept+n; how /= 8 {
		drawn := g.Uint64()
		if how%8 == 0 {
			drawn &= 0x0f0f0f0f0f0f0f0f // makes some kinds and lengths small
		}
		program = binary.LittleEndian.AppendUint64(program, drawn)
	}
	p.rest = append(program, 0)
}

// A Writer writes programs for seeds. Its methods correspond to the methods of Program with the
// same names.
type Writer struct{ program []byte }

// Byte writes the choice of Program.Byte, and of Program.Pick if n is at most
// 256.
func (w *Writer) Byte(b byte) *Writer {
	w.program = append(w.program, b)
	return w
}

// Uint16 writes the choice of Program.Uint16. n is from 0 to 65535.
func (w *Writer) Uint16(n int) *Writer { return w.Byte(byte(n >> 8)).Byte(byte(n)) }

// Pick writes i so that Program.Pick(n) returns it.
func (w *Writer) Pick(i, n int) *Writer {
	if n <= 256 {
		return w.Byte(byte(i))
	}
	return w.Uint16(i)
}

// Bytes writes the choice of Program.Bytes. b has at most 65535 bytes.
func (w *Writer) Bytes(b []byte) *Writer {
	w.Uint16(len(b))
	return w.Raw(b)
}

// Raw writes bytes for Program.Rest.
func (w *Writer) Raw(b []byte) *Writer {
	w.program = append(w.program, b...)
	return w
}

// Program returns the program.
func (w *Writer) Program() []byte { return w.program }
