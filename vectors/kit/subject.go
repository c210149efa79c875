// Package kit builds tokens of any design, sound or corrupted. It runs a
// design's own sealing step by step (lab.Assembler, lab.SchemeAssembler). An
// edit may replace any intermediate value, before authentication or after it.
// The package is independent of designs and formats: the possible edits follow
// from the steps that a design emits.
//
// Packages cases and generate decide how a token should be judged.
package kit

import (
	"errors"
	"fmt"

	"sealab/codecs"
	"sealab/internal/lab"
)

// A Subject is a design with the secrets of its vectors. It is not safe for
// concurrent use.
type Subject struct {
	Design  codecs.Design
	Secrets map[string][]byte

	open map[string]*lab.Instance
}

// NewSubject returns a subject for d.
func NewSubject(d codecs.Design, secrets map[string][]byte) *Subject {
	return &Subject{Design: d, Secrets: secrets, open: map[string]*lab.Instance{}}
}

// in opens the design in a setting.
func (s *Subject) in(set Setting) (*lab.Bound, error) {
	key := fmt.Sprint(set.Keys, set.TTL, set.Options)
	in, ok := s.open[key]
	if !ok {
		c := codecs.Config{Options: set.Options, TTL: &set.TTL}
		for _, name := range set.Keys {
			secret, ok := s.Secrets[name]
			if !ok {
				return nil, fmt.Errorf("there is no key %q", name)
			}
			c.Secrets = append(c.Secrets, secret)
		}
		var err error
		if in, err = lab.Open(s.Design, c); err != nil {
			return nil, err
		}
		s.open[key] = in
	}
	return in.At(&set.Context), nil
}

// SetUp returns nil if a design takes a configuration, and otherwise the
// design's error.
func SetUp(d *codecs.Design, c codecs.Config) error {
	_, err := lab.Open(*d, c)
	return err
}

// Configure returns nil if the design can be set up for a setting.
func (s *Subject) Configure(set Setting) error {
	_, err := s.in(set)
	return err
}

// Read passes token to the design and returns the released bytes. If the design
// panics, Read returns an error with the cause.
func (s *Subject) Read(set Setting, token []byte) (released []byte, err error) {
	c, err := s.in(set)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cause := recover(); cause != nil {
			released, err = nil, fmt.Errorf("%s died: %v", s.Design.Name, cause)
		}
	}()
	return c.Unseal(nil, token)
}

// SeedSize returns the number of random bytes per token.
func (s *Subject) SeedSize(set Setting) (int, error) {
	c, err := s.in(set)
	if err != nil {
		return 0, err
	}
	if !c.Instance.Seeded() {
		return 0, fmt.Errorf("%s does not seal under a given seed: %w", s.Design.Name, codecs.ErrUnsupported)
	}
	return c.SeedSize(), nil
}

// Seal makes the token of a payload or state without edits.
func (s *Subject) Seal(set Setting, seed, payload []byte) ([]byte, error) {
	c, err := s.in(set)
	if err != nil {
		return nil, err
	}
	return c.SealSeeded(nil, seed, payload)
}

// Make makes a token and applies edit, which may be nil. It returns
// codecs.ErrUnsupported if the design's cryptography cannot apply the edit.
func (s *Subject) Make(set Setting, seed, payload []byte, edit Edit) ([]byte, Trace, error) {
	c, err := s.in(set)
	if err != nil {
		return nil, nil, err
	}
	var trace Trace
	token, err := c.SealEdited(nil, seed, payload, trace.recorder(edit))
	return token, trace, err
}

// Unsupported reports whether err says that a design does not support the
// request. Such an error is neither a refusal nor a fault.
func Unsupported(err error) bool { return errors.Is(err, codecs.ErrUnsupported) }
