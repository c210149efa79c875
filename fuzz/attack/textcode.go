package attack

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
)

// A textCode is a way to write bytes as text.
type textCode struct {
	name   string
	encode func([]byte) string
	decode func(string) ([]byte, error)
}

// textCodes are the codes that tokens are known to use, the more particular
// first: hexadecimal text is base64 text as well.
var textCodes = []textCode{
	{"hex", hex.EncodeToString, hex.DecodeString},
	{"HEX", func(b []byte) string { return string(bytes.ToUpper([]byte(hex.EncodeToString(b)))) }, hex.DecodeString},
	{"base32", lowerBase32.EncodeToString, lowerBase32.DecodeString},
	{"BASE32", base32.StdEncoding.EncodeToString, base32.StdEncoding.DecodeString},
	{"BASE32 unpadded", rawBase32.EncodeToString, rawBase32.DecodeString},
	base64URL,
	{"base64url padded", base64.URLEncoding.EncodeToString, base64.URLEncoding.DecodeString},
	{"base64", base64.StdEncoding.EncodeToString, base64.StdEncoding.DecodeString},
	{"base64 unpadded", base64.RawStdEncoding.EncodeToString, base64.RawStdEncoding.DecodeString},
}

// base64URL is the code of most tokens.
var base64URL = textCode{"base64url", base64.RawURLEncoding.EncodeToString, base64.RawURLEncoding.DecodeString}

var (
	rawBase32   = base32.StdEncoding.WithPadding(base32.NoPadding)
	lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
)

// holds reports whether text is what the code writes for some bytes, and
// returns them.
func (c textCode) holds(text string) ([]byte, bool) {
	raw, err := c.decode(text)
	if err != nil || c.encode(raw) != text {
		return nil, false
	}
	return raw, true
}

// minCoded is the shortest text, in characters, that is taken for coded bytes.
// A shorter one is a word, as a version is.
const minCoded = 8

// codeOf returns the code of all texts, which are the same piece of several
// tokens, or false where they are not coded.
func codeOf(texts []string) (textCode, bool) {
	for _, c := range textCodes {
		all := true
		for _, t := range texts {
			if _, ok := c.holds(t); !ok || len(t) < minCoded {
				all = false
				break
			}
		}
		if all {
			return c, true
		}
	}
	return textCode{}, false
}

// lenient returns the bytes of text as a careless base64 reader would find
// them: either alphabet, no padding, everything else skipped, unused bits and
// all. It is how two spellings are recognised as the same.
func lenient(text []byte) []byte {
	clean := make([]byte, 0, len(text))
	for _, c := range text {
		switch {
		case c == '+':
			c = '-'
		case c == '/':
			c = '_'
		case !isBase64URL(c):
			continue
		}
		clean = append(clean, c)
	}
	if len(clean)%4 == 1 {
		clean = clean[:len(clean)-1]
	}
	raw, err := base64.RawURLEncoding.DecodeString(string(clean))
	if err != nil {
		return clean
	}
	return raw
}

func isBase64URL(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}
