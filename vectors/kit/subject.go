// Package kit builds tokens, right ones and wrong ones, of any design: it runs
// a design's own sealing step by step (codecs.Assembler, codecs.SchemeAssembler)
// and lets an edit take the place of any intermediate value, before
// authentication or after it. It names no design and knows no format: which
// edits there are follows from the steps that a design emits.
//
// It does not say what a token should be judged: see packages cases and
// generate.
package kit

import (
	"errors"
	"fmt"

	"sealab/codecs"
)

// A Subject is a design with the secrets that its vectors use. It is not safe
// for concurrent use.
type Subject struct {
	Design  codecs.Design
	Secrets map[string][]byte

	open map[string]instance
}

// instance is a design set up: exactly one of the two is set.
type instance struct {
	codec  codecs.Codec
	scheme codecs.Scheme
}

// NewSubject returns a subject for d.
func NewSubject(d codecs.Design, secrets map[string][]byte) *Subject {
	return &Subject{Design: d, Secrets: secrets, open: map[string]instance{}}
}

// in returns the design set up for a setting, as a codec.
func (s *Subject) in(set Setting) (codecs.Codec, error) {
	key := fmt.Sprint(set.Keys, set.TTL, set.Options)
	in, ok := s.open[key]
	if !ok {
		c := codecs.Config{Options: set.Options, TTL: &set.TTL}
		for _, name := range set.Keys {
			secret, ok := s.Secrets[name]
			if !ok {
				return nil, fmt.Errorf("sealab: there is no key %q", name)
			}
			c.Secrets = append(c.Secrets, secret)
		}
		var err error
		if in, err = setUp(&s.Design, c); err != nil {
			return nil, err
		}
		s.open[key] = in
	}
	if in.scheme != nil {
		return codecs.Bound{Scheme: in.scheme, Binding: &set.Binding, Now: set.Now}, nil
	}
	return in.codec, nil
}

func setUp(d *codecs.Design, c codecs.Config) (in instance, err error) {
	if d.IsScheme() {
		in.scheme, err = d.OpenScheme(c)
		return in, err
	}
	c.TTL = nil
	in.codec, err = d.OpenCodec(c)
	return in, err
}

// SetUp reports whether a design takes a configuration. The error is the
// design's own.
func SetUp(d *codecs.Design, c codecs.Config) error {
	_, err := setUp(d, c)
	return err
}

// Configure reports whether the design can be set up for a setting.
func (s *Subject) Configure(set Setting) error {
	_, err := s.in(set)
	return err
}

// Read gives token to the design and returns what it releases. A design that
// dies of it is a fault with the cause of death, and not the end of the run.
func (s *Subject) Read(set Setting, token []byte) (released []byte, err error) {
	c, err := s.in(set)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cause := recover(); cause != nil {
			released, err = nil, fmt.Errorf("sealab: %s died: %v", s.Design.Name, cause)
		}
	}()
	return c.Unseal(nil, token)
}

// SeedSize returns the number of random bytes that one token takes.
func (s *Subject) SeedSize(set Setting) (int, error) {
	c, err := s.seeded(set)
	if err != nil {
		return 0, err
	}
	return c.SeedSize(), nil
}

// Seal makes the token of a payload or state as the design does when nobody
// interferes.
func (s *Subject) Seal(set Setting, seed, payload []byte) ([]byte, error) {
	c, err := s.seeded(set)
	if err != nil {
		return nil, err
	}
	return c.SealSeeded(nil, seed, payload)
}

func (s *Subject) seeded(set Setting) (codecs.Seeded, error) {
	c, err := s.in(set)
	if err != nil {
		return nil, err
	}
	seeded, ok := codecs.AsSeeded(c)
	if !ok {
		return nil, fmt.Errorf("sealab: %s cannot be given its randomness: %w", s.Design.Name, codecs.ErrUnsupported)
	}
	return seeded, nil
}

// Make makes a token under the hand of edit, which may be nil. An edit that the
// design's cryptography cannot carry out is codecs.ErrUnsupported.
func (s *Subject) Make(set Setting, seed, payload []byte, edit Edit) ([]byte, Trace, error) {
	c, err := s.in(set)
	if err != nil {
		return nil, nil, err
	}
	a, ok := codecs.AsAssembler(c)
	if !ok {
		return nil, nil, fmt.Errorf("sealab: %s cannot be assembled: %w", s.Design.Name, codecs.ErrUnsupported)
	}
	var trace Trace
	token, err := a.SealEdited(nil, seed, payload, trace.recorder(edit))
	return token, trace, err
}

// Unsupported reports whether err says that a design cannot do what was asked,
// which is neither a refusal nor a fault.
func Unsupported(err error) bool { return errors.Is(err, codecs.ErrUnsupported) }
