package cases

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sealab/internal/lab"
	"sealab/vectors"
)

// An At identifies one step of a trace: the n-th step of its name, from 0.
type At struct {
	Step lab.Step
	N    int
}

// String returns the name of the step in vectors: "tag", and "tag-2" for the
// second.
func (a At) String() string {
	if a.N == 0 {
		return string(a.Step)
	}
	return fmt.Sprintf("%s-%d", a.Step, a.N+1)
}

// An Edit receives the value of one step and returns its replacement. It may modify the slice that it
// receives.
type Edit func(at At, value []byte) []byte

// onlyStep returns the edit that applies change to the values of one step and keeps
// all others.
func onlyStep(at At, change func([]byte) []byte) Edit {
	return func(a At, value []byte) []byte {
		if a == at {
			return change(value)
		}
		return value
	}
}

// bothEdits returns the edit that applies first and then second.
func bothEdits(first, second Edit) Edit {
	return func(at At, value []byte) []byte { return second(at, first(at, value)) }
}

// A Trace lists the steps in which a design made a token, each with its value.
type Trace []Step

// A Step is one entry of a Trace.
type Step struct {
	At
	Value []byte
}

// recorder returns the lab.Edit that applies edit and records each step in t.
func (t *Trace) recorder(edit Edit) lab.Edit {
	seen := map[lab.Step]int{}
	return func(s lab.Step, value []byte) []byte {
		at := At{s, seen[s]}
		seen[s]++
		if edit != nil {
			value = edit(at, value)
		}
		*t = append(*t, Step{at, slices.Clone(value)})
		return value
	}
}

// Find returns the value of a step and reports whether the trace has it.
func (t Trace) Find(at At) ([]byte, bool) {
	i := slices.IndexFunc(t, func(s Step) bool { return s.At == at })
	if i < 0 {
		return nil, false
	}
	return t[i].Value, true
}

// steps returns the steps for which keep returns true, in order.
func (t Trace) steps(keep func(lab.Step) bool) []Step {
	return slices.DeleteFunc(slices.Clone(t), func(s Step) bool { return !keep(s.Step) })
}

// isText reports whether s goes on the wire without a text encoding.
func isText(s lab.Step) bool { return s == lab.WirePrefix || s == lab.WireText || s == lab.WireSep }

// isField reports whether s is part of the bytes before text encoding.
func isField(s lab.Step) bool { return s.OnWire() && !isText(s) }

// Raw returns the bytes of every text segment before encoding and the position
// of each field in them.
func (t Trace) Raw() (segments [][]byte, fields map[string]vectors.Place) {
	fields = map[string]vectors.Place{}
	var segment []byte
	for _, s := range t {
		switch {
		case isField(s.Step):
			name := strings.TrimPrefix(s.String(), "wire-")
			fields[name] = vectors.Place{len(segments), len(segment), len(segment) + len(s.Value)}
			segment = append(segment, s.Value...)
		case s.Step == lab.WireText:
			if segment == nil { // encoded before authentication, so there are no fields
				segment, _ = base64.RawURLEncoding.Strict().DecodeString(string(s.Value))
				fields[At{"body", s.N}.String()] = vectors.Place{len(segments), 0, len(segment)}
			}
			segments, segment = append(segments, segment), nil
		case s.Step == lab.WireSep && segment != nil: // a field in plain text, so no segment is encoded
			maps.DeleteFunc(fields, func(_ string, p vectors.Place) bool { return p[0] == len(segments) })
			segment = nil
		}
	}
	return segments, fields
}

// An Alteration is one way to corrupt bytes. Change may modify its argument. If
// it does not apply, it returns the argument unchanged.
type Alteration struct {
	Name, Doc string
	Change    func([]byte) []byte
}

// setTo returns the change that replaces its argument by value.
func setTo(value []byte) func([]byte) []byte {
	return func([]byte) []byte { return bytes.Clone(value) }
}

// appendText returns the change that appends tail.
func appendText(tail string) func([]byte) []byte {
	return func(b []byte) []byte { return append(slices.Clip(b), tail...) }
}

// prependText returns the change that prepends head.
func prependText(head string) func([]byte) []byte {
	return func(b []byte) []byte { return append([]byte(head), b...) }
}

// insertText returns the change that inserts text in the middle.
func insertText(text string) func([]byte) []byte {
	return func(b []byte) []byte { return slices.Insert(b, len(b)/2, []byte(text)...) }
}

// cutTo returns the change that keeps the first n bytes.
func cutTo(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:min(n, len(b))] } }

// Flip returns the change that inverts the bits of mask in byte i. If i is
// negative, it counts from the end.
func Flip(i int, mask byte) func([]byte) []byte {
	return func(b []byte) []byte {
		if at := (i + len(b)) % max(len(b), 1); len(b) > 0 {
			b[at] ^= mask
		}
		return b
	}
}

// Alterations apply to any field of bytes.
var Alterations = []Alteration{
	{"dropped", "left out", cutTo(0)},
	{"repeated", "there twice", func(b []byte) []byte { return append(slices.Clip(b), b...) }},
	{"zero", "all zero bytes", func(b []byte) []byte { return make([]byte, len(b)) }},
	{"ones", "all bytes ff", func(b []byte) []byte { return bytes.Repeat([]byte{0xff}, len(b)) }},
	{"first-bit", "the lowest bit of the first byte flipped", Flip(0, 1)},
	{"last-bit", "the lowest bit of the last byte flipped", Flip(-1, 1)},
	{"top-bit", "the highest bit of the last byte flipped", Flip(-1, 0x80)},
	{"short", "one byte short at the end", func(b []byte) []byte { return b[:max(len(b)-1, 0)] }},
	{"short-front", "one byte short at the front", func(b []byte) []byte { return b[min(len(b), 1):] }},
	{"long", "one zero byte longer", appendText("\x00")},
	{"long-front", "one zero byte in front", prependText("\x00")},
	{"reversed", "its bytes in reverse order", func(b []byte) []byte { slices.Reverse(b); return b }},
}

// A Member is one member of a JSON object, as raw text.
type Member struct{ Name, Value string }

// Members splits a JSON object into its members and keeps the text of their
// values. It reports false if text is not one object.
func Members(text []byte) ([]Member, bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	var members []Member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, false
		}
		members = append(members, Member{name.(string), string(value)})
	}
	_, err := d.Token()
	return members, err == nil && d.InputOffset() == int64(len(text))
}

// Object is the inverse of Members. The result is compact and keeps the given
// order.
func Object(members []Member) []byte {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, '"')
		out = append(out, m.Name...)
		out = append(out, `":`...)
		out = append(out, m.Value...)
	}
	return append(out, '}')
}

// A Stream is an endless stream of bytes that every language can derive:
//
//	SHA-256(label || be64(0)) || SHA-256(label || be64(1)) || ...
//
// It is for test data only. Do not derive keys from it.
type Stream struct {
	label []byte
	block uint64
	rest  []byte
}

// NewStream returns the stream under label.
func NewStream(label string) *Stream { return &Stream{label: []byte(label)} }

// Bytes returns the next n bytes.
func (s *Stream) Bytes(n int) []byte {
	for len(s.rest) < n {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(s.label[:len(s.label):len(s.label)], s.block))
		s.rest = append(s.rest, sum[:]...)
		s.block++
	}
	out := s.rest[:n:n]
	s.rest = s.rest[n:]
	return out
}

// Uint16 returns the next two bytes as a big-endian number.
func (s *Stream) Uint16() uint16 { return binary.BigEndian.Uint16(s.Bytes(2)) }
