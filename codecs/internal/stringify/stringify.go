// Package stringify prints JSON values as JSON.stringify of JavaScript does
// (ECMA-262, 25.5.2), byte for byte: array indices first among the members of an
// object, the last value of a repeated name, numbers by Number::toString.
//
// Limits: those of package rawjson.
package stringify

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"sealab/codecs/internal/rawjson"
)

// Printer prints values as JSON.stringify(JSON.parse(v)) does. Lone surrogates are
// escaped; 0xed is the first byte of each.
var Printer = &rawjson.Printer{
	Quoting: rawjson.NewQuoting(false, 0xed, `""\\`+"\nn\rr\tt\ff\bb", appendEscape),
	Number:  appendLiteral, Members: ownProperties,
}

// ownProperties returns the members in the order of OrdinaryOwnPropertyKeys:
// array indices ascending, then the others by their first place. The last value
// of a repeated name counts.
func ownProperties(members []rawjson.Member) []rawjson.Member {
	out := slices.Clone(rawjson.FirstPlaces(members))
	slices.SortStableFunc(out, func(a, b rawjson.Member) int {
		i, j := arrayIndex(a.Name), arrayIndex(b.Name)
		return int(min(max(i-j, -1), 1))
	})
	return out
}

// arrayIndex returns the array index that a name stands for. If the name is not an
// array index, it returns one more than the largest.
func arrayIndex(name []byte) int64 {
	const none = math.MaxUint32
	n, err := strconv.ParseUint(string(name), 10, 32)
	if err != nil || n == none || strconv.FormatUint(n, 10) != string(name) {
		return none
	}
	return int64(n)
}

// appendLiteral implements rawjson.Printer.Number.
func appendLiteral(dst, literal []byte) []byte {
	v := rawjson.Value{Text: literal}
	return AppendNumber(dst, v.Float())
}

// AppendNumber appends Number::toString(f), and null for an infinity.
func AppendNumber(dst []byte, f float64) []byte {
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

func appendEscape(dst, text []byte, at int) ([]byte, int) {
	r, n := rawjson.DecodeRune(text[at:])
	if r < ' ' || 0xd800 <= r && r < 0xe000 {
		return rawjson.AppendHex(dst, r, rawjson.LowerHex), n
	}
	return append(dst, text[at:at+n]...), n
}
