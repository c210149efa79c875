package rawjson

import (
	"bytes"
	"math"
	"slices"
	"strconv"
)

// Stringify prints values exactly as JSON.stringify(JSON.parse(v)) of
// JavaScript does (ECMA-262, 25.5.2): array indices first among the members of
// an object, the last value of a repeated name, numbers by Number::toString.
// Lone surrogates are escaped; 0xed is their first byte.
var Stringify = &Printer{
	Quoting: NewQuoting(false, 0xed, `""\\`+"\nn\rr\tt\ff\bb", stringifyEscape),
	Number:  stringifyNumber, Members: ownProperties,
}

// ownProperties returns the members in the order of OrdinaryOwnPropertyKeys:
// array indices ascending, then other names by first position. The last value
// of a repeated name counts.
func ownProperties(members []Member) []Member {
	out := slices.Clone(FirstPlaces(members))
	slices.SortStableFunc(out, func(a, b Member) int {
		i, j := arrayIndex(a.Name), arrayIndex(b.Name)
		return int(min(max(i-j, -1), 1))
	})
	return out
}

// arrayIndex returns the array index that a name represents, or one more than
// the largest index if it represents none.
func arrayIndex(name []byte) int64 {
	const none = math.MaxUint32
	n, err := strconv.ParseUint(string(name), 10, 32)
	if err != nil || n == none || strconv.FormatUint(n, 10) != string(name) {
		return none
	}
	return int64(n)
}

// stringifyNumber implements Printer.Number.
func stringifyNumber(dst, literal []byte) []byte {
	return AppendJSNumber(dst, ParseFloat(literal))
}

// AppendJSNumber appends Number::toString(f), or null for an infinity.
func AppendJSNumber(dst []byte, f float64) []byte {
	a := math.Abs(f)
	switch n := int64(f); {
	case math.IsInf(f, 0):
		return append(dst, "null"...)
	case a < 1<<53 && float64(n) == f:
		return strconv.AppendInt(dst, n, 10)
	case 1e-6 <= a && a < 1e21:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	text := strconv.AppendFloat(nil, f, 'e', -1, 64)
	return append(dst, bytes.Replace(text, []byte("e-0"), []byte("e-"), 1)...)
}

func stringifyEscape(dst, text []byte, at int) ([]byte, int) {
	r, n := DecodeRune(text[at:])
	if r < ' ' || 0xd800 <= r && r < 0xe000 {
		return AppendHex(dst, r, LowerHex), n
	}
	return append(dst, text[at:at+n]...), n
}
