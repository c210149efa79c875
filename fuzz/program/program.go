// Package program reads a fuzz input as a small program: a sequence of choices
// that build, alter and open tokens. Any bytes are a program, a shorter input
// is one whose remaining choices are all zero, and every fuzzer that works on
// one byte slice can drive it.
package program

import (
	"encoding/binary"
	"math/rand/v2"
)

// A Program is an input that is being read.
type Program struct {
	rest, input []byte
	dear        bool // input ends with Dear
}

// The last byte of an input may say something about all of it.
const (
	Dear = 0x7f // Seldom is true; the byte itself is no choice
	More = 0x80 // or any byte above: it goes on with choices that nobody made, see Continue
)

// New returns the program that input stands for. It does not change input.
func New(input []byte) *Program {
	if last := len(input) - 1; last >= 0 && input[last] == Dear {
		return &Program{input[:last], input, true}
	}
	return &Program{rest: input, input: input}
}

// Done reports whether the input is used up.
func (p *Program) Done() bool { return len(p.rest) == 0 }

// Byte returns the next byte, 0 when there is none.
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

// Pick returns a number from 0 to n-1, from one byte where that reaches all of
// them and two where it does not. n is from 1 to 65536.
func (p *Program) Pick(n int) int {
	if n <= 256 {
		return int(p.Byte()) % n
	}
	return p.Uint16() % n
}

// Bytes returns the next bytes, at most limit: as many as the Uint16 before
// them says, modulo limit+1. The result aliases the input and must not be
// changed.
func (p *Program) Bytes(limit int) []byte { return p.Take(p.Uint16() % (limit + 1)) }

// Take returns the next n bytes, or as many as there are. The result is as that
// of Bytes.
func (p *Program) Take(n int) []byte {
	n = min(n, len(p.rest))
	b := p.rest[:n:n]
	p.rest = p.rest[n:]
	return b
}

// Rest returns all that is left.
func (p *Program) Rest() []byte {
	b := p.rest
	p.rest = nil
	return b
}

// few is how many of something there are, by the lowest bits of a choice: mostly
// none or one, since what one mistake lets through a second one spoils.
var few = [16]byte{0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 2, 2, 3, 0xff}

// Few reads how many of something there are, at most limit. One is written as
// the byte 1, none as 0, and as many as there may be as 15.
func (p *Program) Few(limit int) int { return min(int(few[p.Byte()%16]), limit) }

// rare is how seldom Seldom is true of an input that goes on.
const rare = 32

// Seldom is a choice for what takes the time of a hundred other things: true of
// inputs that end with Dear, of a few that go on, and of no others. Those few are
// told by a digest of all of the input, since a fuzzer copies any one byte.
func (p *Program) Seldom() bool {
	return p.dear || GoesOn(p.input) && digest(p.input)%rare == 0
}

// digest is in the manner of FNV-1a, eight bytes at a time: inputs are long, and
// nobody means to make two that collide.
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

// GoesOn reports whether Continue has something to do.
func GoesOn(input []byte) bool { return len(input) > 0 && input[len(input)-1] >= More }

// Explicit returns an input that says itself what this one says or draws: the
// choices of input behind a Continue that is called first, and Dear where Seldom
// is true. It is input where that draws nothing.
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

// Continue draws between these numbers of bytes: more than most programs read.
const leastDrawn, mostDrawn = 32, 96

// Continue replaces a last byte of More or above by bytes from a generator that
// the whole input seeds, and with it, half the time, all other bytes, or a
// quarter of the time those behind any place. So any change of such an input is
// a new program, near what the input says or far from it, where a fuzzer that
// changes choices one by one stays near the old. What is drawn ends with a zero.
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

// A Writer writes programs, for seeds. What it writes is read back by the calls
// of Program with the same names.
type Writer struct{ program []byte }

// Byte writes what Program.Byte reads, and Program.Pick where n is at most 256.
func (w *Writer) Byte(b byte) *Writer {
	w.program = append(w.program, b)
	return w
}

// Uint16 writes what Program.Uint16 reads. n is from 0 to 65535.
func (w *Writer) Uint16(n int) *Writer { return w.Byte(byte(n >> 8)).Byte(byte(n)) }

// Pick writes i so that Program.Pick(n) returns it.
func (w *Writer) Pick(i, n int) *Writer {
	if n <= 256 {
		return w.Byte(byte(i))
	}
	return w.Uint16(i)
}

// Bytes writes what Program.Bytes reads. b has at most 65535 bytes.
func (w *Writer) Bytes(b []byte) *Writer {
	w.Uint16(len(b))
	return w.Raw(b)
}

// Raw writes what Program.Rest reads.
func (w *Writer) Raw(b []byte) *Writer {
	w.program = append(w.program, b...)
	return w
}

// Program returns what was written.
func (w *Writer) Program() []byte { return w.program }
