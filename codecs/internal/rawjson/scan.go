package rawjson

import (
	"bytes"
	"fmt"
	"math"
)

// shortestMember is the length in bytes of the shortest possible member with
// its comma.
const shortestMember = len(`"":0,`)

// A scanner parses a document and keeps offsets instead of values.
type scanner struct {
	parser
	exact   bool     // refuse text that readers may read differently: see CheckExact
	names   []uint32 // if exact: offsets of the names in the objects around p.at
	entries []entry  // unless exact: one for each member, in document order
}

// An entry is a member of an object. The entries of nested objects are between
// a member and its next sibling.
type entry struct {
	name uint32 // offset of the name's opening quotation mark
	next uint32 // index of the next member of the same object; 0: the last one
}

func newScanner(d Dialect, doc []byte) scanner {
	if d.MaxDepth == 0 {
		d.MaxDepth = DefaultMaxDepth
	}
	return scanner{parser: parser{Dialect: d, src: doc}}
}

// document scans the whole document.
func (s *scanner) document() error {
	//mutant:equivalent no vector is as long
	if uint64(len(s.src)) > math.MaxUint32 {
		return fmt.Errorf("not JSON: longer than %d bytes", uint32(math.MaxUint32))
	}
	ok := s.space() && s.value() && s.space()
	if ok && s.at != len(s.src) {
		ok = s.fail("more follows the value")
	}
	if !ok {
		return fmt.Errorf("not JSON: %s at byte %d", s.fault, s.at)
	}
	return nil
}

// maxMembers returns an upper bound of the number of members in the document.
func (s *scanner) maxMembers() int {
	return min(bytes.Count(s.src, []byte{':'}), len(s.src)/shortestMember+1)
}

func (s *scanner) value() bool {
	var unused Value
	switch s.next() {
	case '{':
		return s.enter() && //mutant:equivalent no vector nests as deep
			s.object() &&
			s.leave() //mutant:equivalent leave does not fail
	case '[':
		return s.enter() && //mutant:equivalent no vector nests as deep
			s.array() &&
			s.leave() //mutant:equivalent leave does not fail
	case '"':
		return s.skipText()
	case 'n':
		return s.word(&unused, Null, "null")
	case 't':
		return s.word(&unused, True, "true")
	case 'f':
		return s.word(&unused, False, "false")
	}
	if !s.number(&unused) {
		return false
	}
	//mutant:equivalent only CheckExact asks for exact text, and no design calls it
	if s.exact && !isExact(unused.Text) {
		return s.fail("a number that no float64 holds")
	}
	return true
}

func (s *scanner) array() bool {
	if s.next() == ']' {
		s.at++
		return true
	}
	for {
		if !s.value() {
			return false
		}
		if more, ok := s.another(']'); !more {
			return ok
		}
	}
}

func (s *scanner) object() bool {
	if s.next() == '}' {
		s.at++
		return true
	}
	first := len(s.names)
	for last := -1; ; {
		last = s.addName(last)
		if !s.skipName() || !s.value() {
			return false
		}
		if more, ok := s.another('}'); !more {
			return ok &&
				s.leaveNames(first) //mutant:equivalent only CheckExact asks for exact text, and no design calls it
		}
	}
}

// addName records the current name. last is the entry of the previous member, or -1.
func (s *scanner) addName(last int) int {
	if s.exact {
		s.names = append(s.names, uint32(s.at))
		return last
	}
	if last >= 0 {
		s.entries[last].next = uint32(len(s.entries))
	}
	s.entries = append(s.entries, entry{name: uint32(s.at)})
	return len(s.entries) - 1
}

// skipName skips a member's name and the colon.
func (s *scanner) skipName() bool {
	if s.next() != '"' {
		return s.fail("no member name")
	}
	if !s.skipText() ||
		!s.space() { //mutant:equivalent space fails in comments only, and no dialect with comments is scanned
		return false
	}
	if s.next() != ':' {
		return s.fail("no colon after a member name")
	}
	s.at++
	//mutant:equivalent space fails in comments only, and no dialect with comments is scanned
	return s.space()
}

// skipText skips a string.
func (s *scanner) skipText() bool {
	s.at++
	for {
		s.run()
		if s.at == len(s.src) {
			return s.fail("an unfinished string")
		}
		switch c := s.src[s.at]; {
		case c == '"':
			s.at++
			return true
		case c == '\\':
			r, ok := s.escape()
			if !ok {
				return s.fail("a wrong escape")
			}
			//mutant:equivalent only CheckExact asks for exact text, and no design calls it
			if s.exact && (isHigh(r) || isLow(r)) {
				return s.fail("a lone surrogate")
			}
		case s.Controls:
			s.at++
		default:
			return s.fail("a control character in a string")
		}
	}
}

// A nameReader reads the characters of a name in a scanned document.
type nameReader struct {
	parser
}

func (s *scanner) nameAt(offset uint32) nameReader {
	return nameReader{parser{Dialect: s.Dialect, src: s.src, at: int(offset) + 1}}
}

// rune returns the next character, or -1 at the end of the name.
func (n *nameReader) rune() rune {
	switch c := n.src[n.at]; {
	case c == '"':
		return -1
	case c == '\\':
		r, _ := n.escape() // the scanner has checked the escape
		return r
	case c < 0x80:
		n.at++
		return rune(c)
	}
	r, size := DecodeRune(n.src[n.at:])
	n.at += size
	return r
}

// compareNames compares two names by their code points after applying fold.
func (s *scanner) compareNames(a, b uint32, fold func(rune) rune) int {
	x, y := s.nameAt(a), s.nameAt(b)
	for {
		p, q := x.rune(), y.rune()
		if p != q {
			p, q = fold(p), fold(q)
		}
		if p != q || p < 0 {
			return int(p - q)
		}
	}
}
