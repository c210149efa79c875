// Package base64url is canonical unpadded base64url (RFC 4648, section 5): every byte
// string has exactly one spelling, and no other spelling decodes.
//
// Decoders in general accept more: the standard library's skips CR and LF even
// when strict, and the vector decoder used here takes '/' for '_'. AppendDecode
// therefore encodes again what it decoded and compares, chunk by chunk, so that
// its soundness rests on the encoder alone.
//
// On amd64 and arm64 the package uses vector instructions by way of
// github.com/segmentio/asm; the build tag purego selects the standard library.
//
// It is not constant-time: what it decodes and encodes is public by design.
package base64url

import (
	"bytes"
	"encoding/base64"
	"slices"
)

// coder is what the two implementations have in common.
type coder interface {
	Encode(dst, src []byte)
	Decode(dst, src []byte) (int, error)
}

// plain is the implementation in pure Go.
var plain coder = base64.RawURLEncoding

// chunk is the number of characters that are decoded, encoded again and
// compared at a time: small enough to stay in the first-level cache, and a
// multiple of 4, so that chunks decode independently.
const chunk = 4096

// EncodedLen returns the length of the text of n bytes.
func EncodedLen(n int) int { return n/3*4 + (n%3*8+5)/6 }

// DecodedLen returns the number of bytes in n characters of canonical text.
// No canonical text has a length of 1 modulo 4.
func DecodedLen(n int) int { return n/4*3 + n%4*6/8 }

// AppendEncode appends the text of src to dst.
func AppendEncode(dst, src []byte) []byte { return appendEncode(fast, dst, src) }

// AppendDecode appends to dst the bytes that the text src stands for. It
// reports false, and returns dst as it was, when src is not canonical. The
// spare capacity of dst is used as working space.
func AppendDecode(dst, src []byte) ([]byte, bool) { return appendDecode(fast, dst, src) }

func appendEncode(c coder, dst, src []byte) []byte {
	n := EncodedLen(len(src))
	dst = slices.Grow(dst, n)
	out := dst[len(dst) : len(dst)+n]
	c.Encode(out, src)
	return dst[:len(dst)+n]
}

// block is the number of bytes that the vector encoder takes at a time, as long
// as margin more follow the last of them; what is left goes a byte at a time.
const (
	block  = 24
	margin = 8
)

// blocks returns the least length of at least n bytes that the vector encoder
// does in whole blocks but for the margin.
func blocks(n int) int { return (n+block-1)/block*block + margin }

// decodeRoom is the room that decoding n characters takes: the bytes, what fills
// them up to whole blocks, and one chunk to encode them again.
func decodeRoom(n int) int {
	const fill = block + margin
	return DecodedLen(n) + fill + min(n, chunk) + EncodedLen(fill)
}

func appendDecode(c coder, dst, src []byte) ([]byte, bool) {
	if len(src)%4 == 1 {
		return dst, false
	}
	n, start := DecodedLen(len(src)), len(dst)
	dst = slices.Grow(dst, decodeRoom(len(src)))
	for at := start; len(src) > 0; {
		text := src[:min(len(src), chunk)]
		src = src[len(text):]
		out := dst[at : at+DecodedLen(len(text))]
		if m, err := c.Decode(out, text); err != nil || m != len(out) {
			return dst[:start], false
		}
		// The byte behind out gives the last character its unused bits, which
		// are zero. The rest of filled is encoded for nothing, and cleared too:
		// an earlier use of dst may have left anything there, and the encoder
		// looks its tail up in a table.
		filled := dst[at : at+blocks(len(out))]
		clear(filled[len(out):])
		behind := start + n + block + margin
		again := dst[behind : behind+EncodedLen(len(filled))]
		c.Encode(again, filled)
		if !bytes.Equal(again[:len(text)], text) {
			return dst[:start], false
		}
		at += len(out)
	}
	return dst[:start+n], true
}
