package program

import (
	"bytes"
	"slices"
	"sort"
)

// maxLength limits everything that a target makes, in bytes: a little more than
// 16 bits count.
const maxLength = 1<<16 + 64

// plain is the number of bytes that a program can spell out; a longer length
// stands for a recipe.
const plain = 256

// Payload reads bytes to seal: spelled out in the program, or by a recipe that
// makes long ones of few choices.
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
	case 4: // an envelope with marks at both ends
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

// brackets begin and end documents.
var brackets = []string{"{}", "[]", `""`, "<>"}

// bracketed returns bytes that look like a document at both ends.
func bracketed(p *Program, size func(n int) int) []byte {
	pair := brackets[p.Pick(len(brackets))]
	return pad([]byte{pair[0], character(p)}, character(p), []byte{pair[1]}, Length(p, size))
}

// character reads a byte, mostly a printable one.
func character(p *Program) byte {
	if p.Pick(4) == 1 {
		return p.Byte()
	}
	return ' ' + p.Byte()%('~'-' '+1)
}

// words returns up to four literals with a character between them.
func words(p *Program) []byte {
	out := bytes.Clone(Literal(p))
	for range p.Pick(4) {
		out = append(append(out, character(p)), Literal(p)...)
	}
	return out
}

// counting returns n bytes that identify their positions.
func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8)
	}
	return b
}

// pad returns first and last with fill between, n bytes if they fit.
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

// borders are lengths at which blocks, chunks, buffers and counters end.
var borders = []int{0, 8, 16, 20, 24, 32, 48, 64, 96, 128, 192, 255, 256, 512, 1000, 1024, 2048, 3072, 4096, 8192, 1 << 15, 1 << 16}

// near is the largest distance of a length from a border.
const near = 6 // prefixes are shorter

// Lengths up to common are equally likely. A longer one takes the time of many
// others: one in four is kept, and one in sixteen above page.
const (
	common = 1024 + near
	page   = 4096 + near
)

// Length reads a length in bytes: any small one, or one near a border or near a
// number of the source, of the payload or of its token. size returns the length
// of a token; nil if it is unknown.
func Length(p *Program, size func(n int) int) int {
	n := anyLength(p, size)
	if n <= common || n <= page && p.Pick(4) == 1 || n > page && p.Pick(16) == 1 {
		return n
	}
	return n % plain
}

// anyLength is length with long ones as likely as short ones.
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

// offsets are distances of lengths from a border, mostly 0 or 1.
var offsets = []int{0, 0, 0, 0, 0, 1, 1, -1, -1, 2, -2, 3, -3, 4, -4, 5, -5, near, -near}

// Beside reads a length near n.
func Beside(p *Program, n int) int { return max(0, n+offsets[p.Pick(len(offsets))]) }
