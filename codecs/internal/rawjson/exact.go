package rawjson

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// CheckExact reports an error unless doc is JSON (RFC 8259) that every reader
// reads as the same value. It refuses, at any depth:
//
//   - a name that an object has twice, also in another case, because
//     encoding/json matches the fields of a struct in any case
//   - text that is not UTF-8, and lone surrogates
//   - the integer -0, and numbers with a point or an exponent that are not the
//     shortest decimal of their float64 (trailing zeros do not count): 1e400,
//     1e-400, 9007199254740993.0
//
// Integers of any length are accepted. The order of members, white space, and
// the choice of escapes do not matter. It uses at most one byte of heap per
// byte of doc.
func CheckExact(doc []byte) error {
	if !utf8.Valid(doc) {
		return fmt.Errorf("not JSON: the document is not UTF-8")
	}
	s := newScanner(Dialect{}, doc)
	s.exact = true
	s.names = make([]uint32, 0, min(s.maxMembers(), 64))
	return s.document()
}

// leaveNames ends an object whose names begin at s.names[first].
//
//mutant:equivalent only CheckExact asks for exact text, and no design calls it
func (s *scanner) leaveNames(first int) bool {
	if !s.exact {
		return true
	}
	names := s.names[first:]
	s.names = s.names[:first]
	if len(names) < 2 {
		return true
	}
	slices.SortFunc(names, func(a, b uint32) int { return s.compareNames(a, b, foldRune) })
	for i := range len(names) - 1 {
		if s.compareNames(names[i], names[i+1], foldRune) == 0 {
			return s.fail("an object with a repeated name")
		}
	}
	return true
}

// foldRune returns the same rune for all runes that encoding/json treats as
// equal to r: the smallest under simple case folding.
func foldRune(r rune) rune {
	if 'a' <= r && r <= 'z' {
		return r - 'a' + 'A'
	}
	if r < utf8.RuneSelf {
		return r
	}
	for {
		folded := unicode.SimpleFold(r)
		if folded <= r {
			return folded
		}
		r = folded
	}
}

// isExact reports whether a literal is the only decimal of its value, up to its
// trailing zeros.
//
//mutant:equivalent only CheckExact asks for exact text, and no design calls it
func isExact(literal []byte) bool {
	if !bytes.ContainsAny(literal, ".eE") {
		return string(literal) != "-0"
	}
	digits, exponent, ok := decimal(literal)
	if !ok || len(digits) == 0 {
		return ok
	}
	if len(digits) > 17 { // more than any float64 needs
		return false
	}
	f, err := strconv.ParseFloat(string(literal), 64)
	if err != nil || f == 0 {
		return false
	}
	var room [32]byte
	shortest, e, ok := decimal(strconv.AppendFloat(room[:0], f, 'e', -1, 64))
	return ok && e == exponent && bytes.Equal(shortest, digits)
}

// decimal splits a literal into its digits, without zeros at either end, and
// the power of ten of the first digit. The digits are empty for zero. It fails
// if the exponent is out of range for every float64.
//
//mutant:equivalent only CheckExact asks for exact text, and no design calls it
func decimal(literal []byte) (digits []byte, exponent int, ok bool) {
	literal = bytes.TrimPrefix(literal, []byte("-"))
	mantissa := literal
	if e := bytes.IndexAny(literal, "eE"); e >= 0 {
		mantissa = literal[:e]
		exponent, _ = strconv.Atoi(string(literal[e+1:]))
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	digits = append(append(make([]byte, 0, len(mantissa)), whole...), fraction...)
	leading := len(digits) - len(bytes.TrimLeft(digits, "0"))
	digits = bytes.Trim(digits, "0")
	if len(digits) == 0 {
		return nil, 0, true
	}
	exponent += len(whole) - 1 - leading
	return digits, exponent, -1000 < exponent && exponent < 1000
}
