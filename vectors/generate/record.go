package generate

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/vectors"
	"sealab/vectors/cases"
)

// sample is a sealed token with the setting in which it is read.
type sample struct {
	name, doc string
	flags     []string
	base      *cases.Base
	scene     *cases.Scene
	under     *cases.Setting // setting in which it was made; nil means that of base
	token     []byte
	trace     cases.Trace
	read      cases.Setting
	want      cases.Want
	property  codecs.Property
	near      *vectors.Test // nil if the sample is a base
}

// record reads the sample and returns its test. It returns nil if the test already exists, if the format
// of vectors cannot represent it, or if the design neither accepts nor refuses the token.
func (g *generator) record(s *sample) (*vectors.Test, error) {
	if !utf8.Valid(s.token) {
		return nil, nil
	}
	t, err := g.inputs(s)
	if err != nil || t == nil {
		return nil, err
	}
	g.outside(t, s)
	released, err := g.subject.Read(s.read, s.token)
	a := answerOf(released, err)
	if a.Expect == vectors.Silent {
		if cases.Unsupported(err) {
			return nil, nil
		}
		return nil, err
	}
	t.Expect, t.Stage, t.Reason, t.Released = a.Expect, a.Stage, a.Reason, a.Released
	g.judge(t, s, released)
	g.readOtherwise(t, s)
	g.explain(t)
	return t, nil
}

// answerOf returns the answer of a reading, which is silent if err is not a refusal.
func answerOf(released []byte, err error) vectors.Answer {
	refusal := codecs.Rejected(err)
	switch {
	case err == nil:
		return vectors.Answer{Expect: vectors.Accept, Released: vectors.AsHex(released)}
	case refusal != nil:
		return vectors.Answer{Expect: vectors.Refuse, Stage: refusal.Stage.String(), Reason: refusal.Reason}
	}
	return vectors.Answer{Expect: vectors.Silent}
}

// inputs returns the test with its id and every input of an implementation.
func (g *generator) inputs(s *sample) (*vectors.Test, error) {
	scheme := g.subject.Design.IsScheme()
	read, err := s.read.Describe(scheme)
	if cases.Unsupported(err) {
		return nil, nil
	}
	t := &vectors.Test{
		Comment: s.doc, Keys: read.Keys, Options: maps.Clone(s.read.Options), Binding: read.Binding, Now: read.Now, TTL: read.TTL,
		Token: string(s.token), Flags: slices.Clone(s.flags),
	}
	if s.near == nil {
		g.origin(t, s)
	} else {
		t.Near = s.near.ID
	}
	if s.under != nil {
		if t.Minted, err = s.under.Describe(scheme); err != nil {
			return nil, err
		}
	}
	setting, err := json.Marshal(read)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%q %v %s", t.Token, t.Options, setting)
	if g.seen[key] {
		return nil, nil
	}
	g.seen[key] = true
	return t, t.Identify(g.subject.Design.Name, s.name)
}

// origin sets the values from which a base was sealed.
func (g *generator) origin(t *vectors.Test, s *sample) {
	if len(s.scene.Seed) > 0 {
		t.Seed = vectors.AsHex(s.scene.Seed)
	}
	if t.Payload = vectors.AsHex(s.base.Payload); g.subject.Design.IsScheme() {
		t.Payload, t.State = nil, t.Payload
	}
}

// outside sets the values between payload and token, if they differ from those
// of the near sound token.
func (g *generator) outside(t *vectors.Test, s *sample) {
	claims, has := s.trace.Find(cases.At{Step: lab.StepClaims})
	segments, fields := s.trace.Raw()
	if s.near != nil {
		before, _ := s.scene.Trace.Find(cases.At{Step: lab.StepClaims})
		has = has && !bytes.Equal(claims, before)
		if was, _ := s.scene.Trace.Raw(); slices.EqualFunc(was, segments, bytes.Equal) {
			segments = nil
		}
	}
	if has {
		t.Claims = vectors.AsHex(claims)
	}
	if len(segments) == 0 {
		return
	}
	t.Fields = fields
	if encodes(t.Token, segments) {
		return
	}
	for _, segment := range segments {
		t.Raw = append(t.Raw, vectors.Hex(segment))
	}
}

// encodes reports whether the last dot-separated segments of a token are the
// base64url of raw.
func encodes(token string, raw [][]byte) bool {
	texts := strings.Split(token, ".")
	if len(texts) < len(raw) {
		return false
	}
	return slices.EqualFunc(texts[len(texts)-len(raw):], raw, func(text string, raw []byte) bool {
		return text == base64.RawURLEncoding.EncodeToString(raw)
	})
}

// judge verifies the design's claims in the test. They hold for the default options.
func (g *generator) judge(t *vectors.Test, s *sample, released []byte) {
	d := &g.subject.Design
	if s.property != "" {
		if len(s.read.Options) > 0 {
			return
		}
		if word, ok := d.Guarantee(s.property, nil); !ok || !word.Holds {
			return
		}
	}
	byteExact, _ := d.Guarantee(codecs.ByteExact, s.read.Options)
	switch {
	case s.want == cases.Refused && t.Expect == vectors.Accept:
		g.fail(t, "it states %s and accepts: %s", s.property, t.Comment)
	case s.want == cases.Accepted && t.Expect == vectors.Refuse:
		g.fail(t, "it refuses, as %s (%s): %s", t.Stage, t.Reason, t.Comment)
	case s.want == cases.Accepted && byteExact.Holds && !bytes.Equal(released, s.base.Payload):
		g.fail(t, "it states %s and gives back other bytes: %s", codecs.ByteExact, t.Comment)
	}
}

func (g *generator) fail(t *vectors.Test, format string, args ...any) {
	g.broken = append(g.broken, fmt.Errorf("%s: "+format, append([]any{t.ID}, args...)...))
}

// readOtherwise asks the other readings of the design's wire format and records answers that differ.
func (g *generator) readOtherwise(t *vectors.Test, s *sample) {
	for _, reading := range slices.Sorted(maps.Keys(g.readings)) {
		other := g.readings[reading]
		if other.Configure(s.read) != nil {
			continue
		}
		a := answerOf(other.Read(s.read, s.token))
		if reflect.DeepEqual(a, t.Answer("")) {
			continue
		}
		if t.Readings == nil {
			t.Readings = map[string]vectors.Answer{}
		}
		t.Readings[reading] = a
		if flag := difference(t, a); flag != "" {
			t.Flags = append(t.Flags, flag)
		}
	}
}

// difference returns the flag for the difference of another reading's answer.
// It returns "" if the difference has no flag.
func difference(t *vectors.Test, a vectors.Answer) string {
	switch {
	case a.Expect == vectors.Accept && t.Expect == vectors.Refuse:
		return cases.FlagLenient
	case a.Expect == vectors.Refuse && t.Expect == vectors.Refuse && a.Stage != t.Stage:
		return cases.FlagStage
	}
	return ""
}

// explain adds the notes of the test's flags to the file.
func (g *generator) explain(t *vectors.Test) {
	for _, flag := range t.Flags {
		g.notes[flag] = cases.Notes[flag]
	}
}
