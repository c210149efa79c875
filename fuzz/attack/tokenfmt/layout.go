package tokenfmt

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"slices"
)

// A Layout is one way to read a token as a body with a tag. At most one layout of a token is
// right.
type Layout struct {
	Body, Tag []byte
	before    []byte // text before the segment that holds the body
	between   []byte // text between body and tag if they are separate segments
	encode    func([]byte) string
	// Build returns the token with another body and tag.
	Build func(body, tag []byte) []byte
}

// Messages returns the byte strings that a format may authenticate for a body.
func (l Layout) Messages(body []byte) [][]byte {
	word := bytes.TrimRight(l.before, ".:|~-_")
	text := []byte(l.encode(body))
	return [][]byte{
		body, slices.Concat(l.before, body), slices.Concat(word, body),
		text, slices.Concat(l.before, text), slices.Concat(l.before, text, l.between), slices.Concat(word, text),
		append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...),
	}
}

// Layouts returns the ways to read the token as a body and a tag of n bytes. The tag is at the
// end or at the start of the last segment, or a segment of its own.
func (f Format) Layouts(n int) []Layout {
	at := f.Encoded()
	if len(at) == 0 {
		return nil
	}
	last := at[len(at)-1]
	var all []Layout
	if raw := f.Segments[last].Bytes; len(raw) > n {
		end := len(raw) - n
		l := Layout{before: f.Before(last), encode: f.Segments[last].Encoding.Encode}
		l.Body, l.Tag = raw[:end], raw[end:]
		l.Build = func(body, tag []byte) []byte { return f.With(last, slices.Concat(body, tag)) }
		all = append(all, l)
		l.Body, l.Tag = raw[n:], raw[:n]
		l.Build = func(body, tag []byte) []byte { return f.With(last, slices.Concat(tag, body)) }
		all = append(all, l)
	}
	for _, i := range at {
		for _, j := range at {
			if i != j && len(f.Segments[j].Bytes) == n {
				all = append(all, f.apart(i, j))
			}
		}
	}
	return all
}

// apart reads segment i as the body and segment j as the tag.
func (f Format) apart(i, j int) Layout {
	l := Layout{Body: f.Segments[i].Bytes, Tag: f.Segments[j].Bytes, before: f.Before(i), encode: f.Segments[i].Encoding.Encode}
	if i < j {
		l.between = bytes.TrimPrefix(f.Before(j), []byte(string(l.before)+f.Segments[i].Text))
	}
	l.Build = func(body, tag []byte) []byte {
		changed := Format{Segments: slices.Clone(f.Segments)}
		changed.Segments[i].Text = l.encode(body)
		return changed.With(j, tag)
	}
	return l
}

// Holding returns the layouts with a tag of 16, 20, 32 or 64 bytes whose body contains value.
func (f Format) Holding(value []byte) []Layout {
	var all []Layout
	for _, n := range []int{32, 16, 20, 64} {
		for _, l := range f.Layouts(n) {
			if bytes.Contains(l.Body, value) {
				all = append(all, l)
			}
		}
	}
	return all
}

// Sum returns the token whose bytes are the sum over GF(2) of those of three tokens. It reports
// false if the tokens differ in lengths or words.
func Sum(a, b, c Format) (text []byte, ok bool) {
	if len(a.Segments) != len(b.Segments) || len(a.Segments) != len(c.Segments) {
		return nil, false
	}
	for i, s := range a.Segments {
		x, y := b.Segments[i], c.Segments[i]
		switch {
		case s.Encoded() && len(s.Bytes) == len(x.Bytes) && len(s.Bytes) == len(y.Bytes):
			a = a.Altered(i, Xor(Xor(s.Bytes, x.Bytes), y.Bytes))
		case s.Text != x.Text || s.Text != y.Text:
			return nil, false
		}
	}
	return a.Text(), true
}

// TagSums returns the possible values of the tag b + c - a: over GF(2), and modulo 2^130 - 5 as
// in Poly1305, whose tags are the low 128 bits, little-endian.
func TagSums(a, b, c []byte) [][]byte {
	all := [][]byte{Xor(Xor(a, b), c)}
	sum := littleEndian(b)
	sum.Add(sum, littleEndian(c)).Sub(sum, littleEndian(a))
	modulus := new(big.Int).Lsh(big.NewInt(1), uint(8*len(a)))
	for wraps := int64(-2); wraps <= 2; wraps++ {
		tag := new(big.Int).Add(sum, big.NewInt(5*wraps))
		tag.Mod(tag, modulus)
		all = append(all, littleBytes(tag, len(a)))
	}
	return all
}
