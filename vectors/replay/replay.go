// Package replay runs the vectors of a file against a design, in this process
// or in a worker. It reports differences in the verdict first, then in the
// stage of a refusal, then in the released bytes.
package replay

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/vectors"
	"sealab/vectors/cases"
)

// A Demand states which answers a subject must give.
type Demand struct {
	// As names another reading of the file's format, whose recorded answers then apply. A test without an
	// answer of that reading is not tested. If As is empty, the file's own reading applies.
	As string
	// Exact also requires the text of the reason, which is not part of the format. It excludes answers of
	// other readings.
	Exact bool
	// Reseal requires that sealing a sound test's payload gives its token.
	Reseal bool
}

// An Outcome is the result of one test.
type Outcome uint8

// The outcomes.
const (
	Agreed Outcome = iota
	Wrong
	// Otherwise means that the subject gave the recorded answer of another
	// reading.
	Otherwise
	NotTested // the subject does not support an input of the test
)

// A Finding is one test with its outcome.
type Finding struct {
	Test    *vectors.Test
	Outcome Outcome
	Detail  string // got and want
}

// A Report holds every finding on one file.
type Report struct {
	Design   string // the file's
	Subject  string
	Findings []Finding
	Rings    []string // configurations that were wrongly accepted or refused
	Fault    error    // first fault of the subject with its test, or nil
	Died     error    // error that ended the run early, or nil
}

// enoughFaults is the number of consecutive faults after which a run stops.
// They probably have one cause.
const enoughFaults = 8

// Run runs every test of f against d.
func Run(f *vectors.File, d codecs.Design, demand Demand) *Report {
	r := &Report{Design: f.Design, Subject: d.Name}
	if f.Kind != d.Kind() {
		r.Died = fmt.Errorf("the vectors of %s are of a %s, and %s is a %s", f.Design, f.Kind, d.Name, d.Kind())
		return r
	}
	secrets := make(map[string][]byte, len(f.Keys))
	for name, k := range f.Keys {
		secrets[name] = k
	}
	p := player{subject: cases.NewSubject(d, secrets), demand: demand}
	defer func() { r.Fault = p.fault }()
	for i := range f.Tests {
		finding, err := p.play(&f.Tests[i])
		if err != nil {
			r.Died = fmt.Errorf("at test %s: %w", f.Tests[i].ID, err)
			return r
		}
		r.Findings = append(r.Findings, finding)
		if p.faults == enoughFaults {
			r.Died = fmt.Errorf("%s broke %d times in a row and is no longer asked: %w", d.Name, p.faults, p.fault)
			return r
		}
	}
	for i := range f.Rings {
		if detail := p.ring(&f.Rings[i]); detail != "" {
			r.Rings = append(r.Rings, detail)
		}
	}
	return r
}

// A player runs tests against a subject and counts its faults.
type player struct {
	subject *cases.Subject
	demand  Demand
	faults  int   // in a row
	fault   error // the first
}

// note counts err if it is a fault of the subject, at the test or ring id.
func (p *player) note(id string, err error) {
	if !errors.Is(err, codecs.ErrFault) {
		p.faults = 0
		return
	}
	if p.faults++; p.fault == nil {
		p.fault = fmt.Errorf("at %s: %w", id, err)
	}
}

// play reads the token of one test. It returns an error if the test cannot be
// read. If the subject panics, the outcome is Wrong.
func (p *player) play(t *vectors.Test) (Finding, error) {
	set, err := cases.SettingOf(t)
	if err != nil {
		return Finding{}, err
	}
	f := Finding{Test: t}
	if err := p.subject.Configure(set); err != nil && len(t.Options) > 0 && !errors.Is(err, codecs.ErrFault) {
		f.Outcome, f.Detail = NotTested, err.Error()
		return f, nil
	}
	released, err := p.subject.Read(set, []byte(t.Token))
	p.note(t.ID, err)
	if cases.Unsupported(err) {
		f.Outcome, f.Detail = NotTested, "not supported"
		return f, nil
	}
	want, ok := p.wanted(t)
	if !ok {
		f.Outcome, f.Detail = NotTested, "no answer of "+p.demand.As
		return f, nil
	}
	if f.Detail = want.differs(released, err); f.Detail == "" && p.demand.Reseal && t.Sealed {
		f.Detail = p.reseal(t, set)
	}
	switch {
	case f.Detail == "":
	case p.demand.As == "" && !p.demand.Exact && isOther(t, err):
		f.Outcome = Otherwise
	default:
		f.Outcome = Wrong
	}
	return f, nil
}

// answer is the answer that a subject must give.
type answer struct {
	outcome  string // "accept", or the stage of the refusal
	reason   string // "" accepts any
	released *vectors.Hex
}

// wanted returns the required answer and reports whether there is one.
func (p *player) wanted(t *vectors.Test) (answer, bool) {
	of := t.Answer(p.demand.As)
	a := answer{outcome: outcomeOf(of), released: of.Released}
	if p.demand.Exact {
		a.reason = of.Reason
	}
	return a, of.Expect != vectors.Silent
}

// outcomeOf returns "accept" or the stage of a refusal.
func outcomeOf(a vectors.Answer) string { return cmp.Or(a.Stage, string(a.Expect)) }

// isOther reports whether err is the answer of another reading of the format.
func isOther(t *vectors.Test, err error) bool {
	others := slices.Collect(maps.Values(t.Readings))
	return slices.ContainsFunc(others, func(a vectors.Answer) bool { return outcomeOf(a) == answerOf(err) })
}

// answerOf returns "accept", the stage of a refusal, or "" for any other error.
func answerOf(err error) string {
	if err == nil {
		return string(vectors.Accept)
	}
	if refusal := codecs.Rejected(err); refusal != nil {
		return refusal.Stage.String()
	}
	return ""
}

// differs describes how the result differs from the answer. It returns "" if
// they agree.
func (a *answer) differs(released []byte, err error) string {
	got, refusal := answerOf(err), codecs.Rejected(err)
	switch {
	case got == "":
		return "it broke: " + err.Error()
	case err != nil && len(released) > 0:
		return "something was released with the refusal"
	case got != a.outcome:
		return fmt.Sprintf("got %s, want %s", got, a.outcome)
	case a.reason != "" && refusal != nil && refusal.Reason != a.reason:
		return fmt.Sprintf("refused for %q, want %q", refusal.Reason, a.reason)
	case err == nil && a.released != nil && !bytes.Equal(released, *a.released):
		return fmt.Sprintf("released %x, want %x", released, []byte(*a.released))
	}
	return ""
}

// reseal seals a sound test's payload again.
func (p *player) reseal(t *vectors.Test, set cases.Setting) string {
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

// ring describes how a design's answer to a configuration differs from the required one. It returns "" if
// they agree, or if another reading of the format gives that answer.
func (p *player) ring(r *vectors.Ring) string {
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
	got, why := vectors.Accept, ""
	_, err := lab.Open(p.subject.Design, c)
	if err != nil {
		got, why = vectors.Refuse, fmt.Sprintf(" (%v)", err)
	}
	p.note(r.ID, err)
	want := r.Expect
	if as, ok := r.Readings[p.demand.As]; ok {
		want = as
	}
	switch {
	case errors.Is(err, codecs.ErrFault):
		return fmt.Sprintf("%s: it broke: %v", r.ID, err)
	case got == want, p.demand.As == "" && !p.demand.Exact && slices.Contains(slices.Collect(maps.Values(r.Readings)), got):
		return ""
	}
	return fmt.Sprintf("%s: got %s%s, want %s: %s", r.ID, got, why, want, r.Comment)
}
