// Package replay gives the vectors of a file to a design, in this process or
// behind a worker, and says where the two disagree: first on the verdict, then
// on the stage of a refusal, then on what is released.
package replay

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/vectors"
	"sealab/vectors/cases"
	"sealab/vectors/kit"
)

// A Demand is what a subject is held to.
type Demand struct {
	// As names a reading of the file's format: its verdicts, which accepted_by
	// records, are demanded in the place of the file's own. Empty: the file's.
	As string
	// Reasons demands the text of the reason too, which is not part of the format.
	Reasons bool
	// Reseal demands that sealing a sound test's payload gives its token.
	Reseal bool
}

// An Outcome is what became of one test.
type Outcome uint8

// The outcomes.
const (
	Agreed Outcome = iota
	Wrong
	// Lenient is an acceptance where the file refuses and a flag says that
	// readings of the format differ.
	Lenient
	Unexercised // the subject does not support what the test needs
)

// A Finding is one test with its outcome.
type Finding struct {
	Test    *vectors.Test
	Outcome Outcome
	Detail  string // what came, and what was expected
}

// A Report is every finding on one file.
type Report struct {
	Design   string // the file's
	Subject  string
	Findings []Finding
	Rings    []string // configurations that were wrongly taken or refused
	Died     error    // what ended the run before its end; nil: nothing
}

// Run gives every test of f to d.
func Run(f *vectors.File, d codecs.Design, demand Demand) *Report {
	r := &Report{Design: f.Design, Subject: d.Name}
	if scheme := f.Kind == vectors.KindScheme; scheme != d.IsScheme() {
		r.Died = fmt.Errorf("sealab: the vectors are of a %s, and %s is none", f.Kind, d.Name)
		return r
	}
	secrets := make(map[string][]byte, len(f.Keys))
	for name, k := range f.Keys {
		secrets[name] = k
	}
	p := player{kit.NewSubject(d, secrets), demand}
	for i := range f.Tests {
		finding, err := p.play(&f.Tests[i])
		if err != nil {
			r.Died = fmt.Errorf("sealab: at test %s: %w", f.Tests[i].ID, err)
			return r
		}
		r.Findings = append(r.Findings, finding)
	}
	for i := range f.Rings {
		if detail := ring(&f.Rings[i], &d); detail != "" {
			r.Rings = append(r.Rings, detail)
		}
	}
	return r
}

type player struct {
	subject *kit.Subject
	demand  Demand
}

// play reads the token of one test. The error is that of a test that cannot be
// read; a subject that dies of it is wrong.
func (p *player) play(t *vectors.Test) (Finding, error) {
	set, err := kit.SettingOf(t)
	if err != nil {
		return Finding{}, err
	}
	released, err := p.subject.Read(set, []byte(t.Token))
	f := Finding{Test: t}
	if kit.Unsupported(err) {
		f.Outcome, f.Detail = Unexercised, "not supported"
		return f, nil
	}
	if f.Detail = p.differs(t, released, err); f.Detail == "" && p.demand.Reseal && t.Sealed {
		f.Detail = p.reseal(t, set)
	}
	switch {
	case f.Detail == "":
		f.Outcome = Agreed
	case err == nil && t.Expect == vectors.Refuse && p.demand.As == "" && slices.Contains(t.Flags, cases.FlagLenient):
		f.Outcome = Lenient
	default:
		f.Outcome = Wrong
	}
	return f, nil
}

// differs says how an answer differs from what is demanded; "" that it does not.
func (p *player) differs(t *vectors.Test, released []byte, err error) string {
	want, refusal := t.Expect, codecs.Rejected(err)
	if p.demand.As != "" {
		want = vectors.Refuse
		if slices.Contains(t.AcceptedBy, p.demand.As) {
			want = vectors.Accept
		}
	}
	switch {
	case err != nil && refusal == nil:
		return "it broke: " + err.Error()
	case err == nil && want == vectors.Refuse:
		return "accepted, want refused as " + t.Stage
	case err == nil && t.Released != nil && !bytes.Equal(released, *t.Released):
		return fmt.Sprintf("released %x, want %x", released, []byte(*t.Released))
	case err == nil:
		return ""
	case len(released) > 0:
		return "something was released with the refusal"
	case want == vectors.Accept:
		return fmt.Sprintf("refused as %s (%s), want accepted", refusal.Stage, refusal.Reason)
	case t.Stage != "" && refusal.Stage.String() != t.Stage:
		return fmt.Sprintf("refused as %s (%s), want %s (%s)", refusal.Stage, refusal.Reason, t.Stage, t.Reason)
	case p.demand.Reasons && refusal.Reason != t.Reason:
		return fmt.Sprintf("refused for %q, want %q", refusal.Reason, t.Reason)
	}
	return ""
}

// reseal seals a sound test's payload again.
func (p *player) reseal(t *vectors.Test, set kit.Setting) string {
	payload, seed := t.Payload, []byte{}
	if payload == nil {
		payload = t.State
	}
	if t.Seed != nil {
		seed = *t.Seed
	}
	token, err := p.subject.Seal(set, seed, *payload)
	if err != nil {
		return "sealing failed: " + err.Error()
	}
	if string(token) != t.Token {
		return fmt.Sprintf("sealed %q, want %q", token, t.Token)
	}
	return ""
}

// ring says how a design's answer to a configuration differs from what is
// demanded; "" that it does not.
func ring(r *vectors.Ring, d *codecs.Design) string {
	c := codecs.Config{}
	for _, s := range r.Secrets {
		c.Secrets = append(c.Secrets, s)
	}
	if r.TTL != nil {
		ttl, err := r.TTL.Duration()
		if err != nil {
			return r.ID + ": " + err.Error()
		}
		c.TTL = &ttl
	}
	err := kit.SetUp(d, c)
	switch {
	case errors.Is(err, codecs.ErrFault):
		return fmt.Sprintf("%s: it broke: %v", r.ID, err)
	case err == nil && r.Expect == vectors.Refuse:
		return fmt.Sprintf("%s: taken, want refused: %s", r.ID, r.Comment)
	case err != nil && r.Expect == vectors.Accept:
		return fmt.Sprintf("%s: refused (%v), want taken: %s", r.ID, err, r.Comment)
	}
	return ""
}
