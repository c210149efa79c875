// Package cases selects the tokens that a design is tested with. Families of
// cases follow from properties of the design: the steps that it emits, its
// options, the guarantees that it claims, and its kind (codec or scheme).
// Families do not depend on the names of designs.
//
// A case starts from a base: a token that the design itself seals and accepts. The case differs from the
// base in one respect: an edit during sealing, an alteration of the text, or another setting for reading.
// The design seals step by step (lab.Assembler, lab.SchemeAssembler), and an edit may replace any
// intermediate value, before or after authentication. A trace records the steps.
package cases

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/vectors"
)

// A Base is a sound token: its setting and the sealed payload or state.
type Base struct {
	Name, Doc string
	Setting
	Payload []byte   // of a codec, or the state of a scheme
	Try     []Family // families to derive from it
}

// A Case is one token, derived from Base and read in one setting.
type Case struct {
	Name, Doc string
	Base      *Base
	Flags     []string
	Under     []string            // the ring that seals; nil: the base's
	Edit      Edit                // applied during sealing; nil: no edit
	Text      func([]byte) []byte // applied to the token's text; nil: no change
	Read      func(*Setting)      // changes the setting for reading; nil: as minted
	Want      Want
	// Property is the guarantee that Want follows from. If the design disclaims
	// it, its answer is recorded instead.
	Property codecs.Property
}

// A Want is the required answer to a case, if the design claims the case's property.
type Want uint8

// The values of Want. The zero value requires no answer: formats differ, and the design's answer is
// recorded.
const (
	Recorded Want = iota
	Accepted
	Refused
)

// A Scene is a base with a subject and the token that the subject sealed.
type Scene struct {
	*Subject
	Base  *Base
	Seed  []byte
	Token []byte
	Trace Trace
	// Other is a second sound token under the same key, with another seed and
	// payload. Cases take fields from it.
	Other Trace
	// Foreign are sound tokens of other designs under the same secrets.
	Foreign []Foreign
}

// A Foreign is a token of another design.
type Foreign struct {
	Design codecs.Design
	Token  []byte
}

// A Family derives cases of one kind from a sound token. It returns nil if the
// design lacks the property that the family tests.
type Family func(*Scene) []Case

// allFamilies lists the families for the first base of a design.
var allFamilies = []Family{
	fieldCases, tagCases, spliceCases, insideCases, respellingCases, concealedCases, encodingCases,
	framingCases, truncationCases, keyRingCases, keySlotCases, crossDesignCases, twoKeyCases, claimCases,
	cutClaimCases, documentCases, claimByteCases, stretchedCases, undigestedCases, timeCases, allContextCases,
	awkwardArgumentCases, oracleCases,
}

// fewFamilies lists the families for the first base of a format with few vectors.
var fewFamilies = []Family{
	fieldCases, tagCases, spliceCases, insideCases, encodingCases, framingCases, truncationCases,
	keyRingCases, keySlotCases, crossDesignCases, headerCases, envelopeCases, fewClaimCases, cutClaimCases,
	fewDocumentCases, stretchedCases, claimByteCases, compressedCases, undigestedCases, timeCases,
	claimedContextCases, awkwardArgumentCases,
}

// A Setting is the configuration and context in which a token is made or read.
type Setting struct {
	Keys    []string // names of secrets: the first seals, every one unseals
	Options map[string]string
	// TTL and Context apply to schemes. A codec ignores them.
	TTL     time.Duration
	Context codecs.Context
}

// SettingOf returns the setting in which t is read.
func SettingOf(t *vectors.Test) (Setting, error) {
	set := Setting{Keys: t.Keys, Options: t.Options, Context: t.Binding.Codecs()}
	var err error
	if t.Now != nil {
		if set.Context.Now, err = t.Now.Time(); err != nil {
			return set, err
		}
	}
	if t.TTL != nil {
		set.TTL, err = t.TTL.Duration()
	}
	return set, err
}

// Describe returns the setting in the form of the vectors, for a codec or a
// scheme.
func (set Setting) Describe(scheme bool) (*vectors.Minted, error) {
	m := &vectors.Minted{Keys: slices.Clone(set.Keys)}
	if !scheme {
		return m, nil
	}
	b, ok := vectors.BindingOf(set.Context)
	if !ok {
		return nil, fmt.Errorf("a text of the binding is not UTF-8: %w", codecs.ErrUnsupported)
	}
	m.Binding, m.Now, m.TTL = b, new(vectors.UnixSeconds(set.Context.Now)), new(vectors.DurationSeconds(set.TTL))
	return m, nil
}

// Clone returns a copy that shares only values that are never modified in
// place.
func (set Setting) Clone() Setting {
	set.Keys, set.Options = slices.Clone(set.Keys), maps.Clone(set.Options)
	set.Context.Arguments = slices.Clone(set.Context.Arguments)
	return set
}

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

// in returns the design opened in a setting.
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

// Configure returns an error if the design cannot be opened in a setting.
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
