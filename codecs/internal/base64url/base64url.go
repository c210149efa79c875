// Package base64url implements canonical unpadded base64url (RFC 4648, section 5):
// every byte string has exactly one text, and no other text decodes.
//
// Most decoders accept more. The standard library's and that of
// github.com/emmansun/base64 skip CR and LF even in strict mode. Therefore
// AppendDecode also refuses an output that is too short. The tests compare
// every implementation with a decoder written bit by bit, for every byte at
// every position of texts of all small lengths.
//
// On amd64 with AVX-512 VBMI the package uses a decoder of its own, which
// checks the text in the same pass. Elsewhere it uses the vector instructions
// of emmansun/base64. Those of github.com/segmentio/asm mix SSE with AVX; on an
// AMD EPYC each call costs 280 ns more. The build tag purego selects the
// standard library.
//
// It is not constant-time: its inputs and outputs are public.
package base64url

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
)

// A coder is an implementation of base64url.
type coder interface {
	// encode writes the text of src to dst, which must have the length of the
	// text.
	encode(dst, src []byte)
	// decode decodes src to dst, which must have the decoded length. It reports
	// false if src is not canonical. The length of src must not be 1 modulo 4.
	decode(dst, src []byte) bool
}

// plain is the implementation in pure Go.
var plain coder = library{base64.RawURLEncoding.Strict()}

// alphabet lists the characters in the order of their values.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// EncodedLen returns the length of the text of n bytes.
func EncodedLen(n int) int { return n/3*4 + (n%3*8+5)/6 }

// DecodedLen returns the number of bytes in n characters of canonical text.
// No canonical text has a length of 1 modulo 4.
func DecodedLen(n int) int { return n/4*3 + n%4*6/8 }

// AppendEncode appends the text of src to dst.
func AppendEncode(dst, src []byte) []byte { return appendEncode(fast, dst, src) }

// AppendDecode appends the decoded bytes of src to dst. If src is not
// canonical, it reports false and returns dst unchanged; the spare capacity of
// dst may then hold some of the bytes.
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

// library uses the coder of a library whose strict decoder skips line breaks.
type library struct{ loose }

type loose interface {
	Encode(dst, src []byte)
	Decode(dst, src []byte) (int, error)
}

func (l library) encode(dst, src []byte) { l.Encode(dst, src) }

func (l library) decode(dst, src []byte) bool {
	n, err := l.Decode(dst, src)
	//mutant:processor a processor with AVX-512 VBMI decodes in its own way
	return err == nil && n == len(dst)
}

// Parse parses a token of the form prefix || base64url(raw). It returns the
// text after the prefix and the decoded bytes. It fails if there are fewer than
// least bytes. Its errors describe the fault.
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
