package attack

import (
	"bytes"
	"slices"
)

// tagged is a reading of a token as a body with a tag of a given length, and
// the way to build a token from another body and tag. Of several readings of
// one token at most one is right.
type tagged struct {
	body, tag []byte
	before    []byte // text in front of the piece that holds the body
	between   []byte // text between body and tag, where each has its own piece
	encode    func([]byte) string
	build     func(body, tag []byte) []byte
}

// messages are the bytes that a format may authenticate for a body.
func (l tagged) messages(body []byte) [][]byte {
	word := bytes.TrimRight(l.before, ".:|~-_")
	text := []byte(l.encode(body))
	return [][]byte{
		body, slices.Concat(l.before, body), slices.Concat(word, body),
		text, slices.Concat(l.before, text), slices.Concat(l.before, text, l.between), slices.Concat(word, text),
		slices.Concat([]byte{byte(len(body) >> 24), byte(len(body) >> 16), byte(len(body) >> 8), byte(len(body))}, body),
	}
}

// tagged returns the readings of the token as body and tag of n bytes: the tag
// at the end of the last piece, at the start of it, or a piece of its own.
func (s shape) tagged(n int) []tagged {
	at := s.coded()
	if len(at) == 0 {
		return nil
	}
	last := at[len(at)-1]
	var all []tagged
	if raw := s.pieces[last].raw; len(raw) > n {
		end := len(raw) - n
		one := tagged{before: s.textUpTo(last), encode: s.pieces[last].code.encode}
		one.body, one.tag = raw[:end], raw[end:]
		one.build = func(body, tag []byte) []byte { return s.with(last, slices.Concat(body, tag)) }
		all = append(all, one)
		one.body, one.tag = raw[n:], raw[:n]
		one.build = func(body, tag []byte) []byte { return s.with(last, slices.Concat(tag, body)) }
		all = append(all, one)
	}
	for _, i := range at {
		for _, j := range at {
			if i != j && len(s.pieces[j].raw) == n {
				all = append(all, s.apart(i, j))
			}
		}
	}
	return all
}

// apart reads piece i as the body and piece j as the tag.
func (s shape) apart(i, j int) tagged {
	l := tagged{body: s.pieces[i].raw, tag: s.pieces[j].raw, before: s.textUpTo(i), encode: s.pieces[i].code.encode}
	if i < j {
		l.between = bytes.TrimPrefix(s.textUpTo(j), []byte(string(l.before)+s.pieces[i].text))
	}
	l.build = func(body, tag []byte) []byte {
		changed := shape{pieces: slices.Clone(s.pieces)}
		changed.pieces[i].text = l.encode(body)
		return changed.with(j, tag)
	}
	return l
}

// textUpTo is the token's text in front of piece i.
func (s shape) textUpTo(i int) []byte {
	var b []byte
	for _, p := range s.pieces[:i] {
		b = append(b, p.text...)
	}
	return b
}
