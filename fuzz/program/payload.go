package program

import (
	"bytes"
	"slices"
	"sort"
)

// maxLength is the maximum length in bytes of anything that a target builds. It is slightly
// more than 16 bits can count.
const maxLength = 1<<16 + 64

// plain is the maximum number of bytes that a program can spell out. A greater length selects a
// recipe.
const plain = 256

// Payload reads bytes to seal. They are spelled out in the program, or built by a recipe that
// makes long payloads from few choices.
func Payload(p *Program, size func(n int) int) []byte {
	n := p.Uint16()
	if n <= plain {
		return p.Take(n)
	}
	switch n % 10 {
	case 0:
		return p.Take(p.Pick(64))
	case 1:
		return bytes.Repeat([]byte{p.Byte()}, Length(p, size))
	case 2:
		return counting(Length(p, size))
	case 3:
		return bytes.Clone(Literal(p))
	case 4: // a literal at each end
		return pad(Literal(p), character(p), Literal(p), Length(p, size))
	case 5:
		return pad(slices.Concat(Literal(p), Literal(p)), character(p), Literal(p), Length(p, size))
	case 6:
		return pad(p.Bytes(8), character(p), p.Bytes(8), Length(p, size))
	case 7:
		return words(p)
	default:
		return bracketed(p, size)
	}
}

// brackets are the pairs that begin and end documents.
var brackets = []string{"{}", "[]", `""`, "<>"}

// bracketed returns bytes that begin and end like a document.
func bracketed(p *Program, size func(n int) int) []byte {
	pair := brackets[p.Pick(len(brackets))]
	return pad([]byte{pair[0], character(p)}, character(p), []byte{pair[1]}, Length(p, size))
}

// character reads a byte, usually a printable one.
func character(p *Program) byte {
	if p.Pick(4) == 1 {
		return p.Byte()
	}
	return ' ' + p.Byte()%('~'-' '+1)
}

// words returns one to four literals, separated by characters.
func words(p *Program) []byte {
	out := bytes.Clone(Literal(p))
	for range p.Pick(4) {
		out = append(append(out, character(p)), Literal(p)...)
	}
	return out
}

// counting returns n bytes that depend on their positions.
func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8)
	}
	return b
}

// pad returns first and last with fill bytes between, in n bytes or more if they do not fit.
func pad(first []byte, fill byte, last []byte, n int) []byte {
	out := make([]byte, max(n, len(first)+len(last)))
	copy(out, first)
	end := len(out) - len(last)
	for i := len(first); i < end; i++ {
		out[i] = fill
	}
	copy(out[end:], last)
	return out
}

// borders are the lengths at which blocks, chunks, buffers and counters end.
var borders = []int{0, 8, 16, 20, 24, 32, 48, 64, 96, 128, 192, 255, 256, 512, 1000, 1024, 2048, 3072, 4096, 8192, 1 << 15, 1 << 16}

// near is the largest distance of a length from a border.
const near = 6 // prefixes are shorter

// Lengths up to common are equally likely. A longer one takes as long as many others, so only
// one in four is kept, and above page only one in sixteen.
const (
	common = 1024 + near
	page   = 4096 + near
)

// Length reads a length in bytes: a small one, or one near a border, near a number of the
// source, or such that the token is near a border. size returns the length of a token for a
// payload of n bytes. It is nil if this is unknown.
func Length(p *Program, size func(n int) int) int {
	n := anyLength(p, size)
	if n <= common || n <= page && p.Pick(4) == 1 || n > page && p.Pick(16) == 1 {
		return n
	}
	return n % plain
}

// anyLength is Length, except that long lengths are as likely as short ones.
func anyLength(p *Program, size func(n int) int) int {
	switch kind := p.Pick(16); {
	case kind < 9:
		return int(p.Byte())
	case kind == 9:
		return p.Uint16() % 1024
	case kind < 12:
		return Beside(p, borders[p.Pick(len(borders))])
	case kind < 14:
		return Beside(p, literals().numbers.at(p.Uint16()))
	case kind == 14 && size != nil:
		want := Beside(p, borders[p.Pick(len(borders))])
		return sort.Search(maxLength, func(n int) bool { return size(n) >= want })
	default:
		return p.Uint16() % 8192
	}
}

// offsets are distances of lengths from a border, usually 0 or 1.
var offsets = []int{0, 0, 0, 0, 0, 1, 1, -1, -1, 2, -2, 3, -3, 4, -4, 5, -5, near, -near}

// Beside reads a length near n.
func Beside(p *Program, n int) int { return max(0, n+offsets[p.Pick(len(offsets))]) }
