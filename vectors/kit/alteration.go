package kit

import (
	"bytes"
	"slices"
)

// An Alteration is one way to corrupt bytes. Change may modify its argument. If
// it does not apply, it returns the argument unchanged.
type Alteration struct {
	Name, Doc string
	Change    func([]byte) []byte
}

// Set returns the change that replaces its argument by value.
func Set(value []byte) func([]byte) []byte {
	return func([]byte) []byte { return bytes.Clone(value) }
}

// Append returns the change that appends tail.
func Append(tail string) func([]byte) []byte {
	return func(b []byte) []byte { return append(slices.Clip(b), tail...) }
}

// Prepend returns the change that prepends head.
func Prepend(head string) func([]byte) []byte {
	return func(b []byte) []byte { return append([]byte(head), b...) }
}

// Insert returns the change that inserts text in the middle.
func Insert(text string) func([]byte) []byte {
	return func(b []byte) []byte { return slices.Insert(b, len(b)/2, []byte(text)...) }
}

// Cut returns the change that keeps the first n bytes.
func Cut(n int) func([]byte) []byte {
	return func(b []byte) []byte { return b[:min(n, len(b))] }
}

// Flip returns the change that inverts the bits of mask in byte i. If i is
// negative, it counts from the end.
func Flip(i int, mask byte) func([]byte) []byte {
	return func(b []byte) []byte {
		if at := (i + len(b)) % max(len(b), 1); len(b) > 0 {
			b[at] ^= mask
		}
		return b
	}
}

// Alterations apply to any field of bytes.
var Alterations = []Alteration{
	{"dropped", "left out", Cut(0)},
	{"repeated", "there twice", func(b []byte) []byte { return append(slices.Clip(b), b...) }},
	{"zero", "all zero bytes", func(b []byte) []byte { return make([]byte, len(b)) }},
	{"ones", "all bytes ff", func(b []byte) []byte { return bytes.Repeat([]byte{0xff}, len(b)) }},
	{"first-bit", "the lowest bit of the first byte flipped", Flip(0, 1)},
	{"last-bit", "the lowest bit of the last byte flipped", Flip(-1, 1)},
	{"top-bit", "the highest bit of the last byte flipped", Flip(-1, 0x80)},
	{"short", "one byte short at the end", func(b []byte) []byte { return b[:max(len(b)-1, 0)] }},
	{"short-front", "one byte short at the front", func(b []byte) []byte { return b[min(len(b), 1):] }},
	{"long", "one zero byte longer", Append("\x00")},
	{"long-front", "one zero byte in front", Prepend("\x00")},
	{"reversed", "its bytes in reverse order", func(b []byte) []byte { slices.Reverse(b); return b }},
}
