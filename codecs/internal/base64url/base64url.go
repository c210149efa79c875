// Package base64url implements canonical unpadded base64url (RFC 4648, section 5):
// every byte string has exactly one text, and no other text decodes.
//
// Decoders in general accept more: the standard library's skips CR and LF even
// when strict, and that of github.com/segmentio/asm takes / for _, on arm64 also +
// for -. Both ignore spare bits. With them AppendDecode refuses / and +, an output
// that is too short, and spare bits. The tests hold every implementation to a decoder
// written bit by bit, for every byte at every position of texts of all small lengths.
//
// On amd64 with AVX-512 VBMI the package has a decoder of its own, which judges in the
// same pass. Elsewhere on amd64 and arm64 it uses the vector instructions of
// segmentio/asm. The build tag purego selects the standard library.
//
// It is not constant-time: its inputs and outputs are public.
package base64url

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
)

// A coder is one of the implementations.
type coder interface {
	// encode writes the text of src to dst, which has its length.
	encode(dst, src []byte)
	// decode writes the bytes of src to dst, which has their number. It reports false
	// if src, whose length is not 1 modulo 4, is not canonical.
	decode(dst, src []byte) bool
}

// plain is the implementation in pure Go.
var plain coder = library{base64.RawURLEncoding}

// alphabet has the characters by their values.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

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
	c.encode(dst[len(dst):len(dst)+n], src)
	return dst[:len(dst)+n]
}

func appendDecode(c coder, dst, src []byte) ([]byte, bool) {
	n := DecodedLen(len(src))
	dst = slices.Grow(dst, n)
	if len(src)%4 == 1 || !c.decode(dst[len(dst):len(dst)+n], src) {
		return dst, false
	}
	return dst[:len(dst)+n], true
}

// library is a coder of a library, whose decoder takes more than canonical text.
type library struct{ loose }

type loose interface {
	Encode(dst, src []byte)
	Decode(dst, src []byte) (int, error)
}

func (l library) encode(dst, src []byte) { l.Encode(dst, src) }

func (l library) decode(dst, src []byte) bool {
	//mutant:processor a processor with AVX-512 VBMI decodes in its own way
	if bytes.IndexByte(src, '/') >= 0 || bytes.IndexByte(src, '+') >= 0 {
		return false
	}
	n, err := l.Decode(dst, src)
	//mutant:processor a processor with AVX-512 VBMI decodes in its own way
	return err == nil && n == len(dst) && endsClean(dst, src)
}

// endsClean reports whether the spare bits of src are zero, which decodes to out:
// whether the bytes of its last, incomplete group encode to the same characters.
func endsClean(out, src []byte) bool {
	var group [3]byte
	rest := out[len(out)-len(out)%3:]
	base64.RawURLEncoding.Encode(group[:], rest)
	//mutant:processor a processor with AVX-512 VBMI decodes in its own way
	return bytes.Equal(group[:EncodedLen(len(rest))], src[len(src)-len(src)%4:])
}

// Parse parses a token of the form prefix || base64url(raw). It returns the text
// behind the prefix and its bytes. Its errors name the fault. A token with fewer
// than least bytes is an error.
func Parse(prefix string, least int, token []byte) (text, raw []byte, err error) {
	text, ok := bytes.CutPrefix(token, []byte(prefix))
	if !ok {
		return nil, nil, fmt.Errorf("the token does not begin with %q", prefix)
	}
	raw, ok = AppendDecode(nil, text)
	if !ok {
		return nil, nil, fmt.Errorf("what follows %q is not canonical base64url", prefix)
	}
	if len(raw) < least {
		return nil, nil, fmt.Errorf("the token holds %d bytes, want at least %d", len(raw), least)
	}
	return text, raw, nil
}
