package compactjson

import (
	"unicode/utf16"

	"sealab/codecs/rawjson"
)

const hexDigits = "0123456789abcdef"

// plain marks the characters that stand in a string as they are.
var plain = func() (t [256]bool) {
	for c := ' '; c <= '~'; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// letters are the escapes of one letter.
var letters = [256]byte{'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't', '\f': 'f', '\b': 'b'}

// AppendString appends text as a quoted string. Text is generalised UTF-8 (see
// package rawjson); a byte that is not becomes U+FFFD, so callers that must
// not lose anything check with rawjson.Valid first.
func AppendString[T string | []byte](dst []byte, text T) []byte {
	dst = append(dst, '"')
	for start := 0; start < len(text); {
		end := start
		for end < len(text) && plain[text[end]] {
			end++
		}
		dst = append(dst, text[start:end]...)
		if end == len(text) {
			break
		}
		r, n := rawjson.DecodeRune([]byte(text[end:min(end+4, len(text))]))
		dst = appendEscape(dst, r)
		start = end + n
	}
	return append(dst, '"')
}

func appendEscape(dst []byte, r rune) []byte {
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return appendHex(appendHex(dst, high), low)
	}
	if r < 0x80 && letters[r] != 0 {
		return append(dst, '\\', letters[r])
	}
	return appendHex(dst, r)
}

func appendHex(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
