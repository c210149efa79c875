package compactjson

import (
	"unicode/utf16"

	"sealab/codecs/internal/rawjson"
)

// quoting is ASCII. It escapes 0x7f as well.
var quoting = rawjson.NewQuoting(true, 0x7f, `""\\`+"\nn\rr\tt\ff\bb", appendEscape)

// unicode has characters beyond ASCII as they are.
var unicode = rawjson.NewQuoting(false, '"', `""\\`+"\nn\rr\tt\ff\bb", appendEscape)

func appendEscape(dst, text []byte, at int) ([]byte, int) {
	r, n := rawjson.DecodeRune(text[at:])
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return rawjson.AppendHex(rawjson.AppendHex(dst, high, rawjson.LowerHex), low, rawjson.LowerHex), n
	}
	return rawjson.AppendHex(dst, r, rawjson.LowerHex), n
}
