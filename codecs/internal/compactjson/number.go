package compactjson

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"

	"sealab/codecs/internal/rawjson"
)

// AppendNumber appends the value of a number's literal as Python prints it.
func AppendNumber(dst, literal []byte) []byte {
	if !IsFloat(literal) {
		if string(literal) == "-0" {
			literal = literal[1:]
		}
		return append(dst, literal...)
	}
	return AppendFloat(dst, rawjson.ParseFloat(literal))
}

// IsFloat reports whether Python reads a literal as a float: it has a point or
// an exponent, or is NaN or an infinity.
func IsFloat(literal []byte) bool { return bytes.ContainsAny(literal, ".eENI") }

// AppendFloat appends a float as Python's json.dumps prints it: the shortest
// digits that parse as f, with an exponent only if it is under -4 or over 15.
func AppendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	if dst, ok := appendTime(dst, f); ok {
		return dst
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

// appendTime prints times of the years 2001 to 2106. Floats in this range are
// 1.2e-7 to 4.8e-7 apart.
const (
	firstTime  = 1_000_000_000
	lastTime   = 1 << 32
	timeDigits = 10 // before the point
	timePlaces = 7  // maximum after the point
)

// appendTime appends a Unix time in seconds as AppendFloat does. It reports
// false for floats out of its range.
func appendTime(dst []byte, f float64) ([]byte, bool) {
	seconds, fraction, ok := splitTime(f)
	if !ok {
		return dst, false
	}
	dst = append(strconv.AppendInt(dst, seconds, 10), '.')
	for rest := uint64(fraction); ; {
		rest *= 10
		dst = append(dst, byte('0'+rest/second))
		if rest %= second; rest == 0 {
			return dst, true
		}
	}
}

// second is the unit of the fractions that splitTime returns.
const second = 10_000_000

// splitTime returns the seconds and the fraction of the shortest decimal that
// rounds to f. It reports false if f is out of the range of appendTime.
//
// At most one decimal of six places rounds to f, because such decimals are
// further apart than floats. If one does, it has the shortest digits. If none
// does, the nearest decimal of seven places has them: it is less than 0.5e-7
// away and so rounds to f, unless f is half-way between two decimals.
func splitTime(f float64) (seconds, fraction int64, ok bool) {
	if !(f >= firstTime && f < lastTime) {
		return 0, 0, false
	}
	seconds = int64(f)
	places := (f - float64(seconds)) * second // exact: 23 bits times 24
	fraction = int64(places)
	switch rest := places - float64(fraction); {
	case rest == 0.5:
		return 0, 0, false
	case rest > 0.5:
		fraction++
	}
	const million = second / 10
	if short := (fraction + 5) / 10; float64(seconds*million+short)/million == f {
		fraction = short * 10
	}
	return seconds, fraction, true // fraction is under second, because f is at least 1.1e-7 below seconds+1
}

// CutTime parses the float at the start of text if it is in the form of
// appendTime, with as many digits as there are, up to timePlaces. It reports
// false for other text.
func CutTime(text []byte) (f float64, rest []byte, ok bool) {
	if len(text) <= timeDigits || text[timeDigits] != '.' {
		return 0, text, false
	}
	units, ok := eightDigits(text)
	tens, ones := text[timeDigits-2]-'0', text[timeDigits-1]-'0'
	if !ok || tens > 9 || ones > 9 {
		return 0, text, false
	}
	units = 100*units + int64(10*tens+ones)
	n, last := 0, byte(0)
	rest = text[timeDigits+len("."):]
	for ; n < min(len(rest), timePlaces) && rest[n]-'0' <= 9; n++ {
		last = rest[n] - '0'
		units = 10*units + int64(last)
	}
	if n == 0 || last == 0 && n > 1 {
		return 0, text, false
	}
	if n == timePlaces {
		f = float64(units/second) + float64(units%second)/second
		seconds, fraction, ok := splitTime(f)
		return f, rest[n:], ok && seconds*second+fraction == units
	}
	// Both operands are exact, so the quotient is the float nearest to the
	// literal.
	f = float64(units) / [timePlaces]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6}[n]
	return f, rest[n:], f >= firstTime && f < lastTime
}

// eightDigits returns the value of the first eight digits of a literal. It
// combines neighbors: digits to pairs, pairs to fours, and fours to eight.
func eightDigits(literal []byte) (n int64, ok bool) {
	const ones = 0x0101010101010101
	x := binary.LittleEndian.Uint64(literal) ^ '0'*ones
	ok = (x|(x+(0x80-10)*ones))&(0x80*ones) == 0
	x = (10*x + x>>8) & 0x00ff00ff00ff00ff
	x = (100*x + x>>16) & 0x0000ffff0000ffff
	return int64(10_000*x+x>>32) & 0xffffffff, ok
}
