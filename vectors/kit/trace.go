package kit

import (
	"encoding/base64"
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

// An Edit gets the value of one step and returns its replacement. It may modify
// the slice that it gets.
type Edit func(at At, value []byte) []byte

// Only returns the edit that applies change to the values of one step and keeps
// all others.
func Only(at At, change func([]byte) []byte) Edit {
	return func(a At, value []byte) []byte {
		if a == at {
			return change(value)
		}
		return value
	}
}

// Both returns the edit that applies first and then second.
func Both(first, second Edit) Edit {
	return func(at At, value []byte) []byte { return second(at, first(at, value)) }
}

// A Trace lists the steps in which a design made a token, each with the value
// that it used.
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

// Steps returns the steps for which keep returns true, in order.
func (t Trace) Steps(keep func(lab.Step) bool) []Step {
	return slices.DeleteFunc(slices.Clone(t), func(s Step) bool { return !keep(s.Step) })
}

// IsWire reports whether s goes on the wire, after authentication.
func IsWire(s lab.Step) bool { return strings.HasPrefix(string(s), "wire-") }

// isText reports whether s goes on the wire without a text encoding.
func isText(s lab.Step) bool {
	return s == lab.WirePrefix || s == lab.WireText || s == lab.WireSep
}

// IsField reports whether s is part of the bytes before text encoding.
func IsField(s lab.Step) bool { return IsWire(s) && !isText(s) }

// Raw returns the bytes of every text segment before encoding and the position
// of each field in them.
func (t Trace) Raw() (segments [][]byte, fields map[string]vectors.Place) {
	fields = map[string]vectors.Place{}
	var segment []byte
	for _, s := range t {
		switch {
		case IsField(s.Step):
			name := strings.TrimPrefix(s.String(), "wire-")
			fields[name] = vectors.Place{len(segments), len(segment), len(segment) + len(s.Value)}
			segment = append(segment, s.Value...)
		case s.Step == lab.WireText:
			if segment == nil { // encoded before authentication: there are no fields
				segment, _ = base64.RawURLEncoding.Strict().DecodeString(string(s.Value))
				fields[At{"body", s.N}.String()] = vectors.Place{len(segments), 0, len(segment)}
			}
			segments, segment = append(segments, segment), nil
		case s.Step == lab.WireSep && segment != nil: // a field in plain text: no segment is encoded
			maps.DeleteFunc(fields, func(_ string, p vectors.Place) bool { return p[0] == len(segments) })
			segment = nil
		}
	}
	return segments, fields
}
