package mcpts

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"sealab/codecs/rawjson"
)

// appendValue appends JSON.stringify(JSON.parse(v)) (ECMA-262, 25.5.2).
func appendValue(dst []byte, v *rawjson.Value) []byte {
	switch v.Kind {
	case rawjson.True:
		return append(dst, "true"...)
	case rawjson.False:
		return append(dst, "false"...)
	case rawjson.Number:
		return appendNumber(dst, number(v))
	case rawjson.String:
		return appendString(dst, v.Text)
	case rawjson.Array:
		return appendArray(dst, v.Items)
	case rawjson.Object:
		return appendObject(dst, v.Members)
	default:
		return append(dst, "null"...)
	}
}

func appendArray(dst []byte, items []rawjson.Value) []byte {
	dst = append(dst, '[')
	for i := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendValue(dst, &items[i])
	}
	return append(dst, ']')
}

func appendObject(dst []byte, members []rawjson.Member) []byte {
	dst = append(dst, '{')
	for i, m := range ownProperties(members) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, m.Name), ':')
		dst = appendValue(dst, &m.Value)
	}
	return append(dst, '}')
}

// ownProperties returns the members in the order of OrdinaryOwnPropertyKeys:
// array indices ascending, then the others by their first place. The last value
// of a repeated name counts.
func ownProperties(members []rawjson.Member) []rawjson.Member {
	place := make(map[string]int, len(members))
	out := make([]rawjson.Member, 0, len(members))
	for _, m := range members {
		if i, seen := place[string(m.Name)]; seen {
			out[i] = m
			continue
		}
		place[string(m.Name)] = len(out)
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b rawjson.Member) int {
		i, j := arrayIndex(a.Name), arrayIndex(b.Name)
		return int(min(max(i-j, -1), 1))
	})
	return out
}

// arrayIndex returns the array index that a name spells, or one more than the
// largest where it spells none.
func arrayIndex(name []byte) int64 {
	const none = math.MaxUint32
	n, err := strconv.ParseUint(string(name), 10, 32)
	if err != nil || n == none || strconv.FormatUint(n, 10) != string(name) {
		return none
	}
	return int64(n)
}

// number returns what a number's literal is to JavaScript: a float, infinite
// where it is out of range.
func number(v *rawjson.Value) float64 {
	f, _ := strconv.ParseFloat(string(v.Text), 64) // the parser has seen to the syntax; out of range is infinite
	return f
}

// appendNumber appends Number::toString(f), and null for an infinity.
func appendNumber(dst []byte, f float64) []byte {
	a := math.Abs(f)
	switch {
	case math.IsInf(f, 0):
		return append(dst, "null"...)
	case f == 0:
		return append(dst, '0')
	case 1e-6 <= a && a < 1e21:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	text := strconv.AppendFloat(nil, f, 'e', -1, 64)
	return append(dst, bytes.Replace(text, []byte("e-0"), []byte("e-"), 1)...)
}

const hexDigits = "0123456789abcdef"

// letters are the escapes of one letter.
var letters = [0x80]byte{'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't', '\f': 'f', '\b': 'b'}

// appendString appends QuoteJSONString(text). Lone surrogates are escaped.
func appendString(dst, text []byte) []byte {
	dst = append(dst, '"')
	for len(text) > 0 {
		r, n := rawjson.DecodeRune(text)
		switch {
		case r < 0x80 && letters[r] != 0:
			dst = append(dst, '\\', letters[r])
		case r < ' ', 0xd800 <= r && r < 0xe000:
			dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			dst = append(dst, text[:n]...)
		}
		text = text[n:]
	}
	return append(dst, '"')
}
