package rawjson

import (
	"bytes"
	"slices"
)

// The limits of AppendPlain. Documents beyond them are read by StreamSorted.
const (
	plainDepth   = 8
	plainMembers = 16 // of one object
)

// AppendPlain appends the form of StreamSorted if doc is in the usual form: every
// string consists of plain bytes, every number is an integer, no name is repeated,
// and the nesting is shallow. It reads doc once. It reports false, and returns dst
// as it was, for every other document and for text that is not JSON. Some of the
// bytes may then be in the spare capacity of dst.
//
// It does not depend on the dialect: no extension is needed for such documents.
func (q *Quoting) AppendPlain(dst, doc []byte) ([]byte, bool) {
	w := plainWriter{plain: &q.plain, src: doc, out: slices.Grow(dst, len(doc))}
	at := w.value(w.space(0), plainDepth)
	if at < 0 {
		return dst, false
	}
	if at = w.space(at); at != len(doc) {
		return dst, false
	}
	w.flush(at)
	return w.out, true
}

// A plainWriter appends the document that it reads to out. The bytes of a document
// are those of its form but for white space and the order of members, so that they
// are copied in runs.
//
// Its methods take the place at which they read, and return the place behind, or none.
type plainWriter struct {
	plain    *[256]bool
	src, out []byte
	from     int // src from here to the place of reading is not in out
}

// none is the place behind text that is not plain.
const none = -1

// flush copies the run that ends at a place.
func (w *plainWriter) flush(at int) {
	w.out = append(w.out, w.src[w.from:at]...)
	w.from = at
}

// wrote returns the length of the output with the run that ends at a place.
func (w *plainWriter) wrote(at int) int { return len(w.out) + at - w.from }

// byte returns the byte at a place, 0 at the end.
func (w *plainWriter) byte(at int) byte {
	if at < len(w.src) {
		return w.src[at]
	}
	return 0
}

// space leaves white space out.
func (w *plainWriter) space(at int) int {
	if w.byte(at) > ' ' {
		return at
	}
	w.flush(at)
	for ; at < len(w.src); at++ {
		if c := w.src[at]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			break
		}
	}
	w.from = at
	return at
}

// value reads a value.
func (w *plainWriter) value(at, depth int) int {
	switch c := w.byte(at); {
	case c == '"':
		return w.text(at)
	case c == '{' && depth > 0:
		return w.object(at, depth-1)
	case c == '[' && depth > 0:
		return w.array(at, depth-1)
	case c == 't':
		return w.word(at, "true")
	case c == 'f':
		return w.word(at, "false")
	case c == 'n':
		return w.word(at, "null")
	default:
		return w.integer(at)
	}
}

func (w *plainWriter) word(at int, text string) int {
	if !bytes.HasPrefix(w.src[at:], []byte(text)) {
		return none
	}
	return at + len(text)
}

// integer reads the literal of an integer other than -0.
func (w *plainWriter) integer(at int) int {
	start := at
	if w.byte(at) == '-' {
		at++
	}
	first := at
	for c := w.byte(at); '0' <= c && c <= '9'; c = w.byte(at) {
		at++
	}
	if at == first || w.src[first] == '0' && at-start > 1 {
		return none
	}
	return at
}

// text reads a string of plain bytes.
func (w *plainWriter) text(at int) int {
	plain := w.plain
	for i, c := range w.src[at+1:] {
		if plain[c] {
			continue
		}
		if c == '"' {
			return at + i + len(`""`)
		}
		break
	}
	return none
}

// another reads the text after an element: a comma, and then more is true, or the
// closing bracket.
func (w *plainWriter) another(at int, closing byte) (next int, more bool) {
	at = w.space(at)
	switch w.byte(at) {
	case ',':
		return w.space(at + 1), true
	case closing:
		return at + 1, false
	default:
		return none, false
	}
}

func (w *plainWriter) array(at, depth int) int {
	at = w.space(at + 1)
	if w.byte(at) == ']' {
		return at + 1
	}
	for more := true; more; {
		if at = w.value(at, depth); at < 0 {
			return none
		}
		at, more = w.another(at, ']')
	}
	return at
}

// A plainMember is the place of a member in the output, without its comma, and its
// name in the document.
type plainMember struct {
	start, end int
	name       []byte
}

func (w *plainWriter) object(at, depth int) int {
	at = w.space(at + 1)
	if w.byte(at) == '}' {
		return at + 1
	}
	var members [plainMembers]plainMember
	var order [plainMembers]uint8 // of the members' names
	sorted := true
	for n := 0; n < plainMembers && w.byte(at) == '"'; n++ {
		m := &members[n]
		m.start = w.wrote(at)
		end := w.text(at)
		if end < 0 {
			return none
		}
		m.name = w.src[at+1 : end-1]
		if at = w.space(end); w.byte(at) != ':' {
			return none
		}
		if at = w.value(w.space(at+1), depth); at < 0 {
			return none
		}
		m.end = w.wrote(at)
		place := n
		for ; place > 0; place-- {
			c := bytes.Compare(members[order[place-1]].name, m.name)
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
		var more bool
		if at, more = w.another(at, '}'); !more {
			if at > 0 && !sorted {
				w.reorder(at, members[:], order[:n+1])
			}
			return at
		}
	}
	return none
}

// reorder writes the members of an object that ends before a place again, in order.
func (w *plainWriter) reorder(at int, members []plainMember, order []uint8) {
	start, from, text := members[0].start, len(w.out), w.src[w.from:at]
	if start >= from { // all members are in the run
		w.out = append(w.out, text[:start-from]...)
		w.from = at
	} else {
		w.flush(at)
		from, text = 0, w.out
	}
	end := len(w.out)
	for _, i := range order {
		m := &members[i]
		w.out = append(append(w.out, text[m.start-from:m.end-from]...), ',')
	}
	w.out[len(w.out)-1] = '}'
	if start < end {
		w.out = w.out[:start+copy(w.out[start:], w.out[end:])]
	}
}
