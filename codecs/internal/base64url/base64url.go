// Package base64url implements canonical unpadded base64url (RFC 4648, section 5):
// every byte string has exactly one text, and no other text decodes.
//
// Decoders in general accept more: the standard library's skips CR and LF even
// when strict, and the vector decoder takes / for _, on arm64 also + for -. Both
// ignore spare bits. AppendDecode refuses / and +, an output that is too short,
// and spare bits. The tests hold that rule to a decoder written bit by bit, for
// every byte at every position of texts of all small lengths.
//
// On amd64 and arm64 the package uses vector instructions by way of
// github.com/segmentio/asm; the build tag purego selects the standard library.
//
// It is not constant-time: its inputs and outputs are public.
package base64url

import (
	"bytes"
	"encoding/base64"
	"slices"
)

// A coder is one of the two implementations.
type coder interface {
	Encode(dst, src []byte)
	Decode(dst, src []byte) (int, error)
}

// plain is the implementation in pure Go.
var plain coder = base64.RawURLEncoding

// EncodedLen returns the length of the text of n bytes.
func EncodedLen(n int) int { return n/3*4 + (n%3*8+5)/6 }

// DecodedLen returns the number of bytes in n characters of canonical text.
// No canonical text has a length of 1 modulo 4.
func DecodedLen(n int) int { return n/4*3 + n%4*6/8 }

// AppendEncode appends the text of src to dst.
func AppendEncode(dst, src []byte) []byte { return appendEncode(fast, dst, src) }

// AppendDecode appends to dst the bytes that the text src stands for. It
// reports false, and returns dst as it was, unless src is canonical. Some of the
// bytes may then be in the spare capacity of dst.
func AppendDecode(dst, src []byte) ([]byte, bool) { return appendDecode(fast, dst, src) }

func appendEncode(c coder, dst, src []byte) []byte {
	n := EncodedLen(len(src))
	dst = slices.Grow(dst, n)
	out := dst[len(dst) : len(dst)+n]
	c.Encode(out, src)
	return dst[:len(dst)+n]
}

func appendDecode(c coder, dst, src []byte) ([]byte, bool) {
	if bytes.IndexByte(src, '/') >= 0 || bytes.IndexByte(src, '+') >= 0 {
		return dst, false
	}
	n := DecodedLen(len(src))
	dst = slices.Grow(dst, n)
	out := dst[len(dst) : len(dst)+n]
	if m, err := c.Decode(out, src); err != nil || m != n || !endsClean(out, src) {
		return dst, false
	}
	return dst[:len(dst)+n], true
}

// endsClean reports whether the spare bits of src are zero, which decodes to out:
// whether the bytes of its last, incomplete group encode to the same characters.
func endsClean(out, src []byte) bool {
	var group [3]byte
	rest := out[len(out)-len(out)%3:]
	base64.RawURLEncoding.Encode(group[:], rest)
	return bytes.Equal(group[:EncodedLen(len(rest))], src[len(src)-len(src)%4:])
}
