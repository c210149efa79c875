package differential

import (
	"bytes"
	"unicode/utf8"
)

// crossing returns t as the worker protocol can carry it, with U+FFFD for what
// it cannot: a JSON string holds UTF-8 and lone surrogates (each in three bytes
// here, as package worker has them), but no other bytes, and two surrogates that
// make a pair are one character to whoever decodes it.
func crossing(t []byte) []byte {
	out := make([]byte, 0, len(t))
	high := false // the last rune was a lone leading surrogate
	for len(t) > 0 {
		size, leading := 1, false
		switch r, n := utf8.DecodeRune(t); {
		case r != utf8.RuneError || n > 1:
			size = n
			out = append(out, t[:size]...)
		case isSurrogate(t) && (isLeading(t) || !high):
			size, leading = 3, isLeading(t)
			out = append(out, t[:size]...)
		default:
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		t, high = t[size:], leading
	}
	return out
}

// canCross reports whether the worker protocol carries t as it is.
func canCross(t []byte) bool { return bytes.Equal(t, crossing(t)) }

// isSurrogate reports whether t begins with the three bytes of a surrogate.
func isSurrogate(t []byte) bool {
	return len(t) >= 3 && t[0] == 0xED && 0xA0 <= t[1] && t[1] <= 0xBF && 0x80 <= t[2] && t[2] <= 0xBF
}

// isLeading reports whether the surrogate that t begins with is the first of a
// pair.
func isLeading(t []byte) bool { return t[1] < 0xB0 }
