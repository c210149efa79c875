package worker

import (
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/rawjson"
)

// plainASCII marks the ASCII characters that need no escape in a string.
var plainASCII = func() (t [256]bool) {
	for c := ' '; c < 0x7F; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// textRoom is room for the quotes of a string and the end of the line, in
// bytes.
const textRoom = 8

// appendText appends s as a JSON string. It fails with codecs.ErrUnsupported on
// a byte that is neither UTF-8 nor part of a lone surrogate, and on two
// surrogates that would join.
func appendText(dst, s []byte) ([]byte, error) {
	dst = append(slices.Grow(dst, len(s)+len(s)/8+textRoom), '"')
	done := 0  // number of bytes of s that are in dst
	high := -1 // end of the last lone leading surrogate
	for at := plainPrefixLength(s); at < len(s); at += plainPrefixLength(s[at:]) {
		r, n := rune(s[at]), 1
		if r >= utf8.RuneSelf {
			r, n = rawjson.DecodeRune(s[at:])
		}
		joins := at == high && 0xDC00 <= r && r <= 0xDFFF
		if r == utf8.RuneError && n == 1 || joins {
			return nil, codecs.ErrUnsupported
		}
		if needsEscape(r) {
			dst = appendEscape(append(dst, s[done:at]...), r)
			done = at + n
		}
		at += n
		if 0xD800 <= r && r < 0xDC00 {
			high = at
		}
	}
	return append(append(dst, s[done:]...), '"'), nil
}

// plainPrefixLength returns the number of leading plain characters of s.
func plainPrefixLength(s []byte) (n int) {
	for n < len(s) && plainASCII[s[n]] {
		n++
	}
	return n
}

// needsEscape reports whether a code point is escaped. Some readers treat U+2028
// and U+2029 as line ends.
func needsEscape(r rune) bool {
	return r < ' ' || r == '"' || r == '\\' || r == 0x7F || r == '\u2028' || r == '\u2029' || utf16.IsSurrogate(r)
}

func appendEscape(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\n':
		return append(dst, '\\', 'n')
	}
	return rawjson.AppendHex(dst, r, rawjson.LowerHex)
}
