package tokenfmt

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// An Encoding is a way to write bytes as text. The zero value means that the encoding is
// unknown.
type Encoding struct {
	Name   string
	Encode func([]byte) string
	Decode func(string) ([]byte, error)
}

var (
	rawBase32   = base32.StdEncoding.WithPadding(base32.NoPadding)
	lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
)

// Base64URL is base64url without padding, the encoding of most tokens.
var Base64URL = Encoding{"base64url", base64.RawURLEncoding.EncodeToString, base64.RawURLEncoding.DecodeString}

// Encodings are the encodings that tokens are known to use. The more specific ones come first,
// because hexadecimal text is base64 text as well.
var Encodings = []Encoding{
	{"hex", hex.EncodeToString, hex.DecodeString},
	{"HEX", func(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) }, hex.DecodeString},
	{"base32", lowerBase32.EncodeToString, lowerBase32.DecodeString},
	{"BASE32", base32.StdEncoding.EncodeToString, base32.StdEncoding.DecodeString},
	{"BASE32 unpadded", rawBase32.EncodeToString, rawBase32.DecodeString},
	Base64URL,
	{"base64url padded", base64.URLEncoding.EncodeToString, base64.URLEncoding.DecodeString},
	{"base64", base64.StdEncoding.EncodeToString, base64.StdEncoding.DecodeString},
	{"base64 unpadded", base64.RawStdEncoding.EncodeToString, base64.RawStdEncoding.DecodeString},
}

// The lengths in characters of segments that are treated as encoded bytes. A shorter segment is
// a word, for example a version. From minShort to minEncoded-1 characters it may be either: see
// looksRandom.
const (
	minEncoded = 8
	minShort   = 2
)

// encodingOf returns the encoding of texts, which are the same segment of several tokens. It
// reports false if no encoding fits all of them.
func encodingOf(texts []string) (Encoding, bool) {
	if slices.ContainsFunc(texts, func(t string) bool { return len(t) < minEncoded }) && !looksRandom(texts) {
		return Encoding{}, false
	}
	for _, e := range Encodings {
		if !slices.ContainsFunc(texts, func(t string) bool { _, ok := e.canonical(t); return !ok }) {
			return e, true
		}
	}
	return Encoding{}, false
}

// looksRandom reports whether short segments look like random bytes, for example those of a
// short tag: at least three of the same length, all different, and some with letters. Decimal
// numbers are words.
func looksRandom(texts []string) bool {
	if len(texts) < 3 {
		return false
	}
	seen, letters := map[string]bool{}, false
	for _, t := range texts {
		if len(t) < minShort || len(t) != len(texts[0]) || seen[t] {
			return false
		}
		seen[t] = true
		letters = letters || strings.ContainsFunc(t, func(r rune) bool { return r < '0' || r > '9' })
	}
	return letters
}

// canonical decodes text and reports whether Encode gives the same text again.
func (e Encoding) canonical(text string) ([]byte, bool) {
	raw, err := e.Decode(text)
	if err != nil || e.Encode(raw) != text {
		return nil, false
	}
	return raw, true
}

const base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// letters returns the characters that the encoding may use.
func (e Encoding) letters() string {
	switch {
	case strings.HasPrefix(e.Name, "base64url"):
		return base64Letters
	case strings.HasPrefix(e.Name, "base64"):
		return base64Letters[:62] + "+/"
	default:
		return base64Letters[:62]
	}
}

// isBase64URL reports whether c is a letter of the base64url alphabet.
func isBase64URL(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// isEncodingLetter reports for each byte whether it is a letter of some encoding.
var isEncodingLetter = func() (letters [256]bool) {
	for c := range letters {
		letters[c] = isBase64URL(byte(c)) || strings.ContainsRune("+/=", rune(c))
	}
	return letters
}()

// decodeLeniently decodes text as a lenient base64 reader does: it accepts both alphabets,
// ignores unused bits, and skips all other characters. It gives the same result for two
// spellings of the same bytes.
func decodeLeniently(text []byte) []byte {
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

// Xor returns the exclusive or of a and b over the shorter length.
func Xor(a, b []byte) []byte {
	out := bytes.Clone(a[:min(len(a), len(b))])
	for i := range out {
		out[i] ^= b[i]
	}
	return out
}
