package casefile

import (
	"bytes"
	"fmt"
	"unicode"

	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/rawjson"
)

// str returns str(json.loads(value)) of Python.
func str(v *rawjson.Value) string {
	if v.Kind == rawjson.String {
		return string(v.Text)
	}
	return string(appendRepr(nil, v))
}

// appendRepr appends a value as Python's repr prints it.
func appendRepr(dst []byte, v *rawjson.Value) []byte {
	switch v.Kind {
	case rawjson.String:
		return appendQuoted(dst, v.Text)
	case rawjson.Number:
		return appendNumber(dst, v)
	case rawjson.True:
		return append(dst, "True"...)
	case rawjson.False:
		return append(dst, "False"...)
	case rawjson.Array:
		return appendList(dst, v.Items)
	case rawjson.Object:
		return appendDict(dst, rawjson.FirstPlaces(v.Members))
	default:
		return append(dst, "None"...)
	}
}

func appendList(dst []byte, items []rawjson.Value) []byte {
	dst = append(dst, '[')
	for i := range items {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = appendRepr(dst, &items[i])
	}
	return append(dst, ']')
}

func appendDict(dst []byte, members []rawjson.Member) []byte {
	dst = append(dst, '{')
	for i := range members {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(appendQuoted(dst, members[i].Name), ": "...)
		dst = appendRepr(dst, &members[i].Value)
	}
	return append(dst, '}')
}

// appendNumber appends a number as json.dumps prints it, except for infinities
// and NaN.
func appendNumber(dst []byte, v *rawjson.Value) []byte {
	text := compactjson.AppendNumber(nil, v.Text)
	switch string(text) {
	case "NaN":
		return append(dst, "nan"...)
	case "Infinity":
		return append(dst, "inf"...)
	case "-Infinity":
		return append(dst, "-inf"...)
	default:
		return append(dst, text...)
	}
}

// appendQuoted appends a text between single quotes, or between double quotes
// if it contains single quotes but no double ones. It escapes unprintable
// characters.
func appendQuoted(dst, text []byte) []byte {
	mark := byte('\'')
	if bytes.IndexByte(text, '\'') >= 0 && bytes.IndexByte(text, '"') < 0 {
		mark = '"'
	}
	dst = append(dst, mark)
	for len(text) > 0 {
		r, n := rawjson.DecodeRune(text)
		switch {
		case r == rune(mark) || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case unicode.IsPrint(r):
			dst = append(dst, text[:n]...)
		case r < 0x100:
			dst = fmt.Appendf(dst, `\x%02x`, r)
		case r < 0x10000:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = fmt.Appendf(dst, `\U%08x`, r)
		}
		text = text[n:]
	}
	return append(dst, mark)
}
