package rawjson

import (
	"bytes"
	"math"
	"slices"
)

// The limits of AppendPlain. StreamSorted handles documents beyond them.
const (
	plainDepth   = 8
	plainMembers = 16 // per object
)

// AppendPlain appends the output of StreamSorted if doc is in the usual form:
// every string consists of plain bytes, every number is an integer, no name is
// repeated, and the nesting is shallow. For other documents and for invalid
// JSON it reports false and returns dst unchanged. It may write up to
// 2*len(doc) bytes of the spare capacity of dst in any case.
//
// It does not depend on the dialect, because such documents need no extension.
func (q *Quoting) AppendPlain(dst, doc []byte) ([]byte, bool) {
	//mutant:equivalent no vector is as long
	if len(doc) > math.MaxInt32/2 {
		return dst, false
	}
	out := append(slices.Grow(dst, 2*len(doc)), doc...)
	if text := out[len(dst):]; q.plainValue(text, 0, plainDepth) == len(text) {
		return out, true
	}
	tight, ok := appendTight(out[:len(dst)], doc)
	if text := tight[len(dst):]; ok && q.plainValue(text, 0, plainDepth) == len(text) {
		return tight, true
	}
	return dst, false
}

// appendTight appends doc without the white space between its strings. It
// reports false if white space separates two literals, or if there is none. It
// assumes that strings contain no quotation mark; a text with one is not plain
// after this either.
func appendTight(dst, doc []byte) (tight []byte, ok bool) {
	start, inside, parted := len(dst), false, false
	for _, c := range doc {
		if !inside && (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
			parted = len(dst) > start
			continue
		}
		if parted && isLiteral(c) && isLiteral(dst[len(dst)-1]) {
			return dst, false
		}
		parted, inside = false, inside != (c == '"')
		dst = append(dst, c)
	}
	return dst, len(dst)-start < len(doc)
}

// isLiteral reports whether c occurs in integers, true, false or null.
func isLiteral(c byte) bool { return c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' }

// The methods below read text without white space between its strings, and sort
// the members of objects. They take the position at which they read, and return
// the position after it, or none.

// none is returned for text that is not plain.
const none = -1

// byteAt returns the byte at a position, or 0 at the end and at none.
func byteAt(text []byte, at int) byte {
	if uint(at) < uint(len(text)) {
		return text[at]
	}
	return 0
}

func (q *Quoting) plainValue(text []byte, at, depth int) int {
	switch c := byteAt(text, at); {
	case c == '"':
		return q.plainString(text, at)
	case c == '{' && depth > 0:
		return q.plainObject(text, at, depth-1)
	case c == '[' && depth > 0:
		return q.plainArray(text, at, depth-1)
	case c == 't':
		return plainWord(text, at, "true")
	case c == 'f':
		return plainWord(text, at, "false")
	case c == 'n':
		return plainWord(text, at, "null")
	default:
		return plainInteger(text, at)
	}
}

func plainWord(text []byte, at int, word string) int {
	if !bytes.HasPrefix(text[at:], []byte(word)) {
		return none
	}
	return at + len(word)
}

// plainInteger reads the literal of an integer other than -0.
func plainInteger(text []byte, at int) int {
	start := at
	if byteAt(text, at) == '-' {
		at++
	}
	first := at
	for c := byteAt(text, at); '0' <= c && c <= '9'; c = byteAt(text, at) {
		at++
	}
	if at == first || text[first] == '0' && at-start > 1 {
		return none
	}
	return at
}

// plainString reads a string of plain bytes.
func (q *Quoting) plainString(text []byte, at int) int {
	for at++; at < len(text); at++ {
		if c := text[at]; !q.plain[c] {
			if c == '"' {
				return at + 1
			}
			break
		}
	}
	return none
}

func (q *Quoting) plainArray(text []byte, at, depth int) int {
	if byteAt(text, at+1) == ']' {
		return at + 2
	}
	for {
		at = q.plainValue(text, at+1, depth)
		switch byteAt(text, at) {
		case ',':
		case ']':
			return at + 1
		default:
			return none
		}
	}
}

// A plainMember holds the positions of a member, without its comma.
type plainMember struct{ start, nameEnd, end uint32 }

func (q *Quoting) plainObject(text []byte, at, depth int) int {
	if byteAt(text, at+1) == '}' {
		return at + 2
	}
	var members [plainMembers]plainMember
	var order [plainMembers]uint8 // of the members' names
	sorted := true
	for n := 0; n < plainMembers && byteAt(text, at+1) == '"'; n++ {
		start := at + 1
		nameEnd := q.plainString(text, start)
		if byteAt(text, nameEnd) != ':' {
			return none
		}
		at = q.plainValue(text, nameEnd+1, depth)
		members[n] = plainMember{uint32(start), uint32(nameEnd), uint32(at)}
		place := n
		for ; place > 0; place-- {
			before := members[order[place-1]%plainMembers]
			c := compareNames(text[before.start+1:before.nameEnd], text[start+1:nameEnd])
			if c == 0 {
				return none
			}
			if c < 0 {
				break
			}
			order[place] = order[place-1]
		}
		order[place] = uint8(n)
		sorted = sorted && place == n
		switch byteAt(text, at) {
		case ',':
		case '}':
			if !sorted {
				reorder(text, members[:], order[:n+1])
			}
			return at + 1
		default:
			return none
		}
	}
	return none
}

// compareNames compares two names, each with the quotation mark after it. Most
// names differ in the first byte.
func compareNames(a, b []byte) int {
	if a[0] != b[0] && a[0] != '"' && b[0] != '"' {
		return int(a[0]) - int(b[0])
	}
	return bytes.Compare(a[:len(a)-1], b[:len(b)-1])
}

// reorder sorts the members of an object. It uses the room after text.
func reorder(text []byte, members []plainMember, order []uint8) {
	inOrder := text[len(text):]
	for _, i := range order {
		m := members[i]
		inOrder = append(append(inOrder, text[m.start:m.end]...), ',')
	}
	copy(text[members[0].start:], inOrder[:len(inOrder)-len(",")])
}
