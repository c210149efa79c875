package program

import (
	"bytes"
	"slices"
	"sort"
)

// maxLength is the maximum length in bytes of anything that a target builds. It is slightly
// more than 16 bits can count.
const maxLength = 1<<16 + 64

// maxPlainLength is the maximum number of bytes that a program can spell out. A greater length
// selects a recipe.
const maxPlainLength = 256

// Payload reads bytes to seal. They are spelled out in the program, or built by a recipe that
// makes long payloads from few choices.
func Payload(p *Program, size func(n int) int) []byte {
	n := p.Uint16()
	if n <= maxPlainLength {
		return p.Take(n)
	}
	switch n % 10 {
	case 0:
		return p.Take(p.Pick(64))
	case 1:
		return bytes.Repeat([]byte{p.Byte()}, Length(p, size))
	case 2:
		return countingBytes(Length(p, size))
	case 3:
		return bytes.Clone(Literal(p))
	case 4: // a literal at each end
		return pad(Literal(p), readCharacter(p), Literal(p), Length(p, size))
	case 5:
		return pad(slices.Concat(Literal(p), Literal(p)), readCharacter(p), Literal(p), Length(p, size))
	case 6:
		return pad(p.Bytes(8), readCharacter(p), p.Bytes(8), Length(p, size))
	case 7:
		return readWords(p)
	default:
		return readBracketed(p, size)
	}
}

// bracketPairs are the pairs that begin and end documents.
var bracketPairs = []string{"{}", "[]", `""`, "<>"}

// readBracketed returns bytes that begin and end like a document.
func readBracketed(p *Program, size func(n int) int) []byte {
	pair := bracketPairs[p.Pick(len(bracketPairs))]
	return pad([]byte{pair[0], readCharacter(p)}, readCharacter(p), []byte{pair[1]}, Length(p, size))
}

// readCharacter reads a byte, usually a printable one.
func readCharacter(p *Program) byte {
	if p.Pick(4) == 1 {
		return p.Byte()
	}
	return ' ' + p.Byte()%('~'-' '+1)
}

// readWords returns one to four literals, separated by characters.
func readWords(p *Program) []byte {
	out := bytes.Clone(Literal(p))
	for range p.Pick(4) {
		out = append(append(out, readCharacter(p)), Literal(p)...)
	}
	return out
}

// countingBytes returns n bytes that depend on their positions.
func countingBytes(n int) []byte {
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

// lengthBorders are the lengths at which blocks, chunks, buffers and counters end.
var lengthBorders = []int{0, 8, 16, 20, 24, 32, 48, 64, 96, 128, 192, 255, 256, 512, 1000, 1024, 2048, 3072, 4096, 8192, 1 << 15, 1 << 16}

// maxBorderOffset is the largest distance of a length from a border.
const maxBorderOffset = 6 // prefixes are shorter

// Lengths up to maxCommonLength are equally likely. A longer one takes as long as many others, so
// only one in four is kept, and above maxPageLength only one in sixteen.
const (
	maxCommonLength = 1024 + maxBorderOffset
	maxPageLength   = 4096 + maxBorderOffset
)

// Length reads a length in bytes: a small one, or one near a border, near a number of the
// source, or such that the token is near a border. size returns the length of a token for a
// payload of n bytes. It is nil if this is unknown.
func Length(p *Program, size func(n int) int) int {
	n := anyLength(p, size)
	if n <= maxCommonLength || n <= maxPageLength && p.Pick(4) == 1 || n > maxPageLength && p.Pick(16) == 1 {
		return n
	}
	return n % maxPlainLength
}

// anyLength is Length, except that long lengths are as likely as short ones.
func anyLength(p *Program, size func(n int) int) int {
	switch kind := p.Pick(16); {
	case kind < 9:
		return int(p.Byte())
	case kind == 9:
		return p.Uint16() % 1024
	case kind < 12:
		return Beside(p, lengthBorders[p.Pick(len(lengthBorders))])
	case kind < 14:
		return Beside(p, sourceLiterals().numbers.at(p.Uint16()))
	case kind == 14 && size != nil:
		want := Beside(p, lengthBorders[p.Pick(len(lengthBorders))])
		return sort.Search(maxLength, func(n int) bool { return size(n) >= want })
	default:
		return p.Uint16() % 8192
	}
}

// borderOffsets are distances of lengths from a border, usually 0 or 1.
var borderOffsets = []int{0, 0, 0, 0, 0, 1, 1, -1, -1, 2, -2, 3, -3, 4, -4, 5, -5, maxBorderOffset, -maxBorderOffset}

// Beside reads a length near n.
func Beside(p *Program, n int) int { return max(0, n+borderOffsets[p.Pick(len(borderOffsets))]) }
