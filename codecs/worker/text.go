package worker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"sealab/codecs"
)

// A text is a string of the protocol. Unlike a Go string that encoding/json
// decodes, it keeps lone surrogates: each is the three bytes that UTF-8 would
// use if it could.
type text string

// UnmarshalJSON implements json.Unmarshaler. null leaves t as it is.
func (t *text) UnmarshalJSON(quoted []byte) error {
	if bytes.Equal(quoted, []byte("null")) {
		return nil
	}
	if quoted[0] != '"' {
		return fmt.Errorf("sealab: got %.20s, want a string", quoted)
	}
	if !bytes.Contains(quoted, []byte(`\u`)) {
		return json.Unmarshal(quoted, (*string)(t))
	}
	plain, err := unquote(quoted)
	*t = text(plain)
	return err
}

// unquote decodes a syntactically correct JSON string.
func unquote(quoted []byte) ([]byte, error) {
	var out []byte
	for rest := quoted[1 : len(quoted)-1]; len(rest) > 0; {
		if rest[0] != '\\' {
			n := bytes.IndexByte(rest, '\\')
			if n < 0 {
				n = len(rest)
			}
			out, rest = append(out, rest[:n]...), rest[n:]
			continue
		}
		if rest[1] == 'u' {
			r, n := unescape(rest)
			out, rest = appendRune(out, r), rest[n:]
			continue
		}
		var one string
		if err := json.Unmarshal([]byte{'"', '\\', rest[1], '"'}, &one); err != nil {
			return nil, err
		}
		out, rest = append(out, one...), rest[2:]
	}
	return out, nil
}

// unescape decodes the \u escape, or the pair of them, that s begins with, and
// returns how long it is.
func unescape(s []byte) (r rune, length int) {
	const one = len(`\uXXXX`)
	r = hex4(s)
	if !utf16.IsSurrogate(r) || len(s) < 2*one || s[one] != '\\' || s[one+1] != 'u' {
		return r, one
	}
	if pair := utf16.DecodeRune(r, hex4(s[one:])); pair != utf8.RuneError {
		return pair, 2 * one
	}
	return r, one
}

// hex4 returns the code unit of the escape that s begins with.
func hex4(s []byte) rune {
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	if err != nil {
		panic("sealab: worker: " + err.Error()) // the JSON decoder has checked the syntax
	}
	return rune(n)
}

// appendRune appends r, also where it is a surrogate.
func appendRune(dst []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(dst, 0xED, 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(dst, r)
}

// surrogate returns the surrogate whose three bytes s begins with.
func surrogate(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xED || s[1] < 0xA0 || s[1] > 0xBF || s[2] < 0x80 || s[2] > 0xBF {
		return 0, false
	}
	return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
}

// appendText appends s as a JSON string. A byte that is neither UTF-8 nor part
// of a lone surrogate cannot cross, nor can two surrogates that would join.
func appendText(dst []byte, s string) ([]byte, error) {
	dst = append(dst, '"')
	high := false // the last rune was a lone leading surrogate
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			lone, ok := surrogate(s)
			if !ok || high && lone >= 0xDC00 {
				return nil, codecs.ErrUnsupported
			}
			dst, s, high = fmt.Appendf(dst, `\u%04x`, lone), s[3:], lone < 0xDC00
			continue
		}
		dst, s, high = appendChar(dst, r), s[n:], false
	}
	return append(dst, '"'), nil
}

func appendChar(dst []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r < ' ' || r == 0x7F || r == '\u2028' || r == '\u2029': // these two end a line for some readers
		return fmt.Appendf(dst, `\u%04x`, r)
	default:
		return utf8.AppendRune(dst, r)
	}
}
