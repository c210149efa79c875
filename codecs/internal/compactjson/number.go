package compactjson

import (
	"bytes"
	"math"
	"strconv"
)

// AppendNumber appends the value of a literal as Python prints it.
func AppendNumber(dst, literal []byte) []byte {
	if !IsFloat(literal) {
		if string(literal) == "-0" {
			literal = literal[1:]
		}
		return append(dst, literal...)
	}
	return AppendFloat(dst, ParseFloat(literal))
}

// IsFloat reports whether Python reads a literal as a float: it has a point or
// an exponent, or is NaN or an infinity.
func IsFloat(literal []byte) bool { return bytes.ContainsAny(literal, ".eENI") }

// ParseFloat returns the float of a number's literal, an infinity if it is out of
// range.
func ParseFloat(literal []byte) float64 {
	f, _ := strconv.ParseFloat(string(literal), 64) // the parser has seen to the syntax; out of range is infinite
	return f
}

// AppendFloat appends a float as Python's json.dumps prints it: the shortest digits
// that give f again, with an exponent only if it is under -4 or over 15.
func AppendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if !bytes.Contains(dst[start:], []byte(".")) {
		dst = append(dst, ".0"...)
	}
	return dst
}
