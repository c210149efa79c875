// Package generate makes the vectors of a design. It runs every applicable case
// through the design and records the answers.
//
// The design is the source of the recorded answers, but its claims are
// verified. If a claimed property does not hold in a case, the error names the
// case and no file is written. Consumers and workers show whether other
// implementations agree.
//
// Everything is derived from fixed labels, so every run gives the same bytes.
package generate

import (
	"bytes"
	"errors"
	"fmt"
	"maps"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/vectors"
	"sealab/vectors/cases"
)

// Version is the version of the generator. It changes whenever an unchanged design would get other
// vectors.
const Version = 1

// File returns the vectors of d, which also reads tokens of the designs in others. Claims over a codec get
// all vectors if the codec is the first among others. Otherwise they get few, because the claims are the
// same.
func File(d codecs.Design, others []codecs.Design) (*vectors.File, error) {
	g := newGenerator(d, others)
	for _, base := range cases.Bases(&d, g.brief) {
		if err := g.base(base); err != nil {
			return nil, fmt.Errorf("vectors of %s: %w", d.Name, err)
		}
	}
	rings, err := g.rings()
	if err := errors.Join(append(g.broken, err)...); err != nil {
		return nil, fmt.Errorf("vectors of %s: %w", d.Name, err)
	}
	return g.file(rings), nil
}

// generator collects the tests of one design.
type generator struct {
	subject *cases.Subject
	// readings are the other readings of the design's wire format, by name.
	readings map[string]*cases.Subject
	foreign  []*cases.Subject // designs before this one: adding a design leaves the vectors of others unchanged
	tests    []vectors.Test
	seen     map[string]bool // inputs of the recorded tests
	notes    map[string]vectors.Note
	prefix   string  // of the tokens
	brief    bool    // the claims over another codec have all vectors
	broken   []error // claims that the design violated
}

func newGenerator(d codecs.Design, others []codecs.Design) *generator {
	g := &generator{
		subject: cases.NewSubject(d, secrets(&d)),
		seen:    map[string]bool{}, notes: map[string]vectors.Note{}, readings: map[string]*cases.Subject{},
	}
	for _, reading := range cases.Readings(&d) {
		as := lab.With(d, map[string]string{cases.OptionReading: reading})
		g.readings[reading] = cases.NewSubject(as, secrets(&as))
	}
	before := true
	for _, o := range others {
		s := cases.NewSubject(o, secrets(&o))
		before = before && o.Name != d.Name
		g.brief = g.brief || before && o.Over != "" && d.Over != ""
		if o.IsScheme() != d.IsScheme() {
			continue
		}
		if before {
			g.foreign = append(g.foreign, s)
		}
	}
	return g
}

// base records the sound token of b and every case derived from it. It omits a base that the design cannot
// make, unless it is the first.
func (g *generator) base(b *cases.Base) error {
	scene, err := g.scene(b)
	if err != nil {
		if len(g.tests) > 0 {
			return nil
		}
		return err
	}
	flags := []string{cases.Sound}
	if lab.HooksOf(g.subject.Design).Unjudged {
		flags = append(flags, cases.Unjudged)
	}
	near, err := g.record(&sample{name: b.Name, doc: b.Doc, flags: flags, base: b, scene: scene,
		token: scene.Token, trace: scene.Trace, read: b.Setting, want: cases.Accepted})
	if err != nil || near == nil {
		return err
	}
	near.Sealed = true
	g.tests = append(g.tests, *near)
	for _, family := range b.Try {
		for _, c := range family(scene) {
			if err := g.derive(scene, c, near); err != nil {
				return fmt.Errorf("%s/%s: %w", b.Name, c.Name, err)
			}
		}
	}
	return nil
}

// scene seals a base and the tokens that its cases need.
func (g *generator) scene(b *cases.Base) (*cases.Scene, error) {
	n, err := g.subject.SeedSize(b.Setting)
	if err != nil {
		return nil, err
	}
	s := &cases.Scene{Subject: g.subject, Base: b, Seed: cases.NewStream("sealab-vectors/1 seed " + b.Name).Bytes(n)}
	if s.Token, s.Trace, err = g.subject.Make(b.Setting, s.Seed, b.Payload, nil); err != nil {
		return nil, err
	}
	if prefix, ok := s.Trace.Find(cases.At{Step: lab.WirePrefix}); ok && g.prefix == "" {
		g.prefix = string(prefix)
	}
	sealed, err := g.subject.Seal(b.Setting, s.Seed, b.Payload)
	if err != nil || !bytes.Equal(sealed, s.Token) {
		return nil, fmt.Errorf("%s: step by step the token is %q, at once it is %q (%v)", b.Name, s.Token, sealed, err)
	}
	other := append(bytes.Clone(b.Payload[:max(len(b.Payload)-2, 0)]), "9}"...)
	if _, s.Other, err = g.subject.Make(b.Setting, cases.NewStream("sealab-vectors/1 other "+b.Name).Bytes(n), other, nil); err != nil {
		s.Other = nil
	}
	s.Foreign = g.tokensOfOthers(b)
	return s, nil
}

// tokensOfOthers seals the base's payload with every design before this one.
func (g *generator) tokensOfOthers(b *cases.Base) []cases.Foreign {
	var tokens []cases.Foreign
	for _, o := range g.foreign {
		set := b.Setting
		set.Keys, set.Options = cases.Ring(&o.Design), nil
		n, err := o.SeedSize(set)
		if err != nil {
			continue
		}
		token, err := o.Seal(set, cases.NewStream("sealab-vectors/1 foreign "+o.Design.Name).Bytes(n), b.Payload)
		if err == nil {
			tokens = append(tokens, cases.Foreign{Design: o.Design, Token: token})
		}
	}
	return tokens
}

// derive records one case. It skips a case that the design cannot make, that no setting can read, or that
// changes no byte.
func (g *generator) derive(scene *cases.Scene, c cases.Case, near *vectors.Test) error {
	b := scene.Base
	made := b.Setting
	var under *cases.Setting
	if c.Under != nil {
		made.Keys, under = c.Under, &made
	}
	token, trace, err := g.subject.Make(made, scene.Seed, b.Payload, c.Edit)
	if cases.Unsupported(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if c.Text != nil {
		token = c.Text(bytes.Clone(token))
	}
	read := b.Setting.Clone()
	if c.Read != nil {
		c.Read(&read)
	}
	if g.subject.Configure(read) != nil {
		return nil
	}
	t, err := g.record(&sample{name: b.Name + "-" + c.Name, doc: c.Doc, flags: c.Flags, base: b, scene: scene, under: under,
		token: token, trace: trace, read: read, want: c.Want, property: c.Property, near: near})
	if err == nil && t != nil {
		g.tests = append(g.tests, *t)
	}
	return err
}

func (g *generator) file(rings []vectors.Ring) *vectors.File {
	d := &g.subject.Design
	f := &vectors.File{
		Format: vectors.Format, Design: d.Name, Kind: d.Kind(), Doc: d.Doc, Spec: d.Spec,
		Generator: "sealab vectors generate", Version: Version, License: vectors.License, Prefix: g.prefix,
		Keys: map[string]vectors.Hex{}, Notes: maps.Clone(g.notes), Rings: rings,
		NumberTests: len(g.tests), Tests: g.tests,
	}
	for name, secret := range g.subject.Secrets {
		f.Keys[name] = secret
	}
	if seed := g.tests[0].Seed; seed != nil {
		f.SeedSize = len(*seed)
	}
	return f
}
