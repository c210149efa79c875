// Package program reads a fuzz input as a small program: a sequence of choices
// that build, alter and open tokens. Every input is a program; after its end
// all choices are zero. Any fuzzer of one byte slice can drive it.
//
// Fuzz targets draw from it payloads, lengths near borders, words of the source
// under test, and alterations of a token.
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
	Dear = 0x7f // Seldom is true; the byte itself is not a choice
	More = 0x80 // or any byte above: the input continues with drawn choices, see Continue
)

// New returns the program of an input, without changing the input.
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

// Bytes returns the next bytes, at most limit: their number is the Uint16
// before them, modulo limit+1. The result aliases the input; do not change it.
func (p *Program) Bytes(limit int) []byte { return p.Take(p.Uint16() % (limit + 1)) }

// Take returns the next n bytes, or all if there are fewer. The result is as
// that of Bytes.
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

// few maps the lowest bits of a choice to a number: mostly zero or one, because
// a second alteration hides the effect of the first.
var few = [16]byte{0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 2, 2, 3, 0xff}

// Few reads a small number, at most limit. The byte 1 means one, 0 zero, and 15
// the limit.
func (p *Program) Few(limit int) int { return min(int(few[p.Byte()%16]), limit) }

// rare is the inverse of the share of continuing inputs for which Seldom is
// true.
const rare = 32

// Seldom is a choice for actions that take the time of a hundred others. It is
// true for inputs that end with Dear and for a few that continue. A digest of
// the whole input selects those few, because fuzzers copy single bytes.
func (p *Program) Seldom() bool { return p.dear || GoesOn(p.input) && digest(p.input)%rare == 0 }

// digest works like FNV-1a on eight bytes at a time.
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

// GoesOn reports whether Continue draws.
func GoesOn(input []byte) bool { return len(input) > 0 && input[len(input)-1] >= More }

// Explicit returns an input that encodes all choices of this one: those after
// Continue, and Dear if Seldom is true. It returns input if Continue does not
// draw.
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

// Continue draws a number of bytes in this range, more than most programs read.
const leastDrawn, mostDrawn = 32, 96

// Continue replaces a last byte of More or above by bytes from a generator with
// the whole input as its seed. In half of the inputs it also replaces all other
// bytes, in a quarter those after some place. Any change of such an input makes
// a new program, near the old one or far from it; a fuzzer that mutates single
// choices stays near. The drawn bytes end with a zero.
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
			drawn &= 0x0f0f0f0f0f0f0f0f // some kinds and lengths are small
		}
		program = binary.LittleEndian.AppendUint64(program, drawn)
	}
	p.rest = append(program, 0)
}

// A Writer writes programs for seeds. The methods of Program with the same
// names read them.
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
