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

// AppendPlain appends the form of StreamSorted if doc has nothing unusual: every
// string consists of plain bytes, every number is an integer, no name is repeated,
// and the nesting is shallow. It reads doc once. It reports false, and returns dst
// as it was, for every other document and for text that is not JSON. Some of the
// bytes may then be in the spare capacity of dst.
//
// It does not depend on the dialect: no extension is needed for such documents.
func (q *Quoting) AppendPlain(dst, doc []byte) ([]byte, bool) {
	w := plainWriter{plain: &q.plain, src: doc, out: slices.Grow(dst, len(doc))}
	w.space()
	if !w.value(plainDepth) {
		return dst, false
	}
	if w.space(); w.at != len(doc) {
		return dst, false
	}
	w.flush()
	return w.out, true
}

// A plainWriter appends the document that it reads to out. The bytes of a document
// are those of its form but for white space and the order of members, so that they
// are copied in runs.
type plainWriter struct {
	plain    *[256]bool
	src, out []byte
	from, at int // src[from:at] has been read and is not in out
}

// flush copies the run.
func (w *plainWriter) flush() {
	w.out = append(w.out, w.src[w.from:w.at]...)
	w.from = w.at
}

// next returns the byte at hand, 0 at the end.
func (w *plainWriter) next() byte {
	if w.at < len(w.src) {
		return w.src[w.at]
	}
	return 0
}

// space leaves white space out and returns the byte behind it, 0 at the end.
func (w *plainWriter) space() byte {
	if c := w.next(); c > ' ' {
		return c
	}
	w.flush()
	for ; w.at < len(w.src); w.at++ {
		if c := w.src[w.at]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			break
		}
	}
	w.from = w.at
	return w.next()
}

// value reads a value, at its first byte.
func (w *plainWriter) value(depth int) bool {
	switch c := w.next(); c {
	case '"':
		return w.text()
	case '{':
		return depth > 0 && w.object(depth-1)
	case '[':
		return depth > 0 && w.array(depth-1)
	case 't':
		return w.word("true")
	case 'f':
		return w.word("false")
	case 'n':
		return w.word("null")
	default:
		return w.integer()
	}
}

func (w *plainWriter) word(text string) bool {
	if !bytes.HasPrefix(w.src[w.at:], []byte(text)) {
		return false
	}
	w.at += len(text)
	return true
}

// integer reads the literal of an integer other than -0.
func (w *plainWriter) integer() bool {
	start, end := w.at, w.at
	if end < len(w.src) && w.src[end] == '-' {
		end++
	}
	first := end
	for end < len(w.src) && '0' <= w.src[end] && w.src[end] <= '9' {
		end++
	}
	if end == first || w.src[first] == '0' && end-start > 1 {
		return false
	}
	w.at = end
	return true
}

// text reads a string of plain bytes.
func (w *plainWriter) text() bool {
	rest := w.src[w.at+1:]
	for i, c := range rest {
		if !w.plain[c] {
			w.at += i + 2
			return c == '"'
		}
	}
	return false
}

// another reads the text after an element: a comma, and then more is true, or the
// closing bracket.
func (w *plainWriter) another(closing byte) (more, ok bool) {
	c := w.space()
	w.at++
	if c == ',' {
		w.space()
		return true, true
	}
	return false, c == closing
}

func (w *plainWriter) array(depth int) bool {
	w.at++
	if w.space() == ']' {
		w.at++
		return true
	}
	for {
		if !w.value(depth) {
			return false
		}
		if more, ok := w.another(']'); !more {
			return ok
		}
	}
}

// A plainMember is the place of a member in the output, without its comma, and its
// name in the document.
type plainMember struct {
	start, end int
	name       []byte
}

// wrote returns the length of the output with the run.
func (w *plainWriter) wrote() int { return len(w.out) + w.at - w.from }

func (w *plainWriter) object(depth int) bool {
	w.at++
	if w.space() == '}' {
		w.at++
		return true
	}
	var room [plainMembers]plainMember
	members, sorted := room[:0], true
	for {
		if len(members) == plainMembers || w.next() != '"' {
			return false
		}
		start, name := w.wrote(), w.at+1
		if !w.text() {
			return false
		}
		m := plainMember{start: start, name: w.src[name : w.at-1]}
		if w.space() != ':' {
			return false
		}
		w.at++
		if w.space(); !w.value(depth) {
			return false
		}
		m.end = w.wrote()
		if n := len(members); n > 0 && sorted {
			sorted = bytes.Compare(members[n-1].name, m.name) < 0
		}
		members = append(members, m)
		more, ok := w.another('}')
		if !ok {
			return false
		}
		if !more {
			return sorted || w.sort(members)
		}
	}
}

// sort writes the members, which end the output, again by name. It reports false
// if a name is repeated.
func (w *plainWriter) sort(members []plainMember) bool {
	w.flush()
	start, end := members[0].start, len(w.out)
	for i := 1; i < len(members); i++ {
		m, at := members[i], i
		for at > 0 && bytes.Compare(m.name, members[at-1].name) <= 0 {
			members[at] = members[at-1]
			at--
		}
		members[at] = m
		if at < i && bytes.Equal(m.name, members[at+1].name) {
			return false
		}
	}
	for _, m := range members {
		w.out = append(append(w.out, w.out[m.start:m.end]...), ',')
	}
	w.out[len(w.out)-1] = '}'
	w.out = w.out[:start+copy(w.out[start:], w.out[end:])]
	return true
}
