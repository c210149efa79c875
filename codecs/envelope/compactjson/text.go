package compactjson

import (
	"unicode/utf16"

	"sealab/codecs/rawjson"
)

// plain marks the characters that stand in a string as they are.
var plain = func() (t [256]bool) {
	for c := ' '; c <= '~'; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// letters are the escapes of one letter.
var letters = [0x80]byte{'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't', '\f': 'f', '\b': 'b'}

// appendEscape implements rawjson.Printer.Escape.
func appendEscape(dst, text []byte, at int) ([]byte, int) {
	r, n := rawjson.DecodeRune(text[at:])
	if r < 0x80 && letters[r] != 0 {
		return append(dst, '\\', letters[r]), n
	}
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return rawjson.AppendHex(rawjson.AppendHex(dst, high, rawjson.LowerHex), low, rawjson.LowerHex), n
	}
	return rawjson.AppendHex(dst, r, rawjson.LowerHex), n
}
