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
	w := plainWriter{Quoting: q, src: doc, out: slices.Grow(dst, len(doc))}
	if !w.value(plainDepth) {
		return dst, false
	}
	if w.space(); w.at != len(doc) {
		return dst, false
	}
	return w.out, true
}

// A plainWriter appends the document that it reads to out.
type plainWriter struct {
	*Quoting
	src, out []byte
	at       int
}

// space skips white space and returns the byte behind it, 0 at the end.
func (w *plainWriter) space() byte {
	for ; w.at < len(w.src); w.at++ {
		if c := w.src[w.at]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

func (w *plainWriter) value(depth int) bool {
	switch c := w.space(); {
	case c == '"':
		return w.text()
	case c == '{':
		return depth > 0 && w.object(depth-1)
	case c == '[':
		return depth > 0 && w.array(depth-1)
	case c == 't':
		return w.word("true")
	case c == 'f':
		return w.word("false")
	case c == 'n':
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
	w.out = append(w.out, text...)
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
	w.out = append(w.out, w.src[start:end]...)
	return true
}

// text reads a string of plain bytes.
func (w *plainWriter) text() bool {
	end := w.at + 1
	for end < len(w.src) && w.plain[w.src[end]] {
		end++
	}
	if end == len(w.src) || w.src[end] != '"' {
		return false
	}
	w.out = append(w.out, w.src[w.at:end+1]...)
	w.at = end + 1
	return true
}

// next skips a comma and reports true, or the closing bracket and reports false.
func (w *plainWriter) next(closing byte) (more, ok bool) {
	c := w.space()
	w.at++
	return c == ',', c == ',' || c == closing
}

func (w *plainWriter) array(depth int) bool {
	w.at++
	w.out = append(w.out, '[')
	more := w.space() != ']'
	if !more {
		w.at++
	}
	for more {
		if !w.value(depth) {
			return false
		}
		var ok bool
		if more, ok = w.next(']'); !ok {
			return false
		}
		if more {
			w.out = append(w.out, ',')
		}
	}
	w.out = append(w.out, ']')
	return true
}

// A plainMember is the place of a member in the output, without its comma.
type plainMember struct{ start, colon, end int }

func (w *plainWriter) object(depth int) bool {
	w.at++
	w.out = append(w.out, '{')
	if w.space() == '}' {
		w.at++
		w.out = append(w.out, '}')
		return true
	}
	var room [plainMembers]plainMember
	members, sorted := room[:0], true
	for more := true; more; {
		m := plainMember{start: len(w.out)}
		if len(members) == plainMembers || w.space() != '"' || !w.text() || w.space() != ':' {
			return false
		}
		w.at++
		m.colon = len(w.out)
		w.out = append(w.out, ':')
		if !w.value(depth) {
			return false
		}
		m.end = len(w.out)
		if n := len(members); n > 0 && sorted {
			sorted = w.compare(members[n-1], m) < 0
		}
		members = append(members, m)
		var ok bool
		if more, ok = w.next('}'); !ok {
			return false
		}
		w.out = append(w.out, ',')
	}
	if !sorted && !w.sort(members) {
		return false
	}
	w.out[len(w.out)-1] = '}'
	return true
}

// compare compares the names of two members without their quotation marks: the
// closing mark would sort before some characters and behind others.
func (w *plainWriter) compare(a, b plainMember) int {
	return bytes.Compare(w.out[a.start+1:a.colon-1], w.out[b.start+1:b.colon-1])
}

// sort writes the members, which end the output, again by name. It reports false
// if a name is repeated.
func (w *plainWriter) sort(members []plainMember) bool {
	start, size := members[0].start, len(w.out)-members[0].start
	for i := 1; i < len(members); i++ {
		m, at := members[i], i
		for at > 0 && w.compare(m, members[at-1]) <= 0 {
			members[at] = members[at-1]
			at--
		}
		members[at] = m
		if at < i && w.compare(m, members[at+1]) == 0 {
			return false
		}
	}
	for _, m := range members {
		w.out = append(append(w.out, w.out[m.start:m.end]...), ',')
	}
	copy(w.out[start:], w.out[start+size:])
	w.out = w.out[:start+size]
	return true
}
