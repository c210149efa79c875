package differential

import (
	"bytes"
	"errors"
	"fmt"

	"sealab/codecs"
	"sealab/internal/lab"
)

// A Disagreement is one presentation on which the two sides differ.
type Disagreement struct {
	HereName, ThereName string
	PeerVersion         string
	Note                string // seed, round, and what was done to the token
	Config              codecs.Config
	Context             context
	State               []byte // where minting differs, and there is no token
	Token               []byte
	Here, There         lab.Answer

	kind     codecs.Kind
	question question
}

// A question is what the sides were asked.
type question uint8

const (
	judged question = iota // a token
	opened                 // a configuration
	minted                 // a state
)

// String says what differs in one line, without keys.
func (d Disagreement) String() string {
	return fmt.Sprintf("%s: %s: %s; %s: %s; token %q", d.Note, d.HereName, answer(d.Here), d.ThereName, answer(d.There), d.Token)
}

// answer returns a verdict in words: what is equal reads the same.
func answer(v lab.Answer) string {
	switch r := codecs.Rejected(v.Err); {
	case v.Err == nil:
		return fmt.Sprintf("accepted with %q", v.Payload)
	case r != nil:
		return fmt.Sprintf("%s, %s", r.Stage, r.Reason)
	case errors.Is(v.Err, codecs.ErrUnsupported):
		return "unsupported"
	default:
		return "fault: " + v.Err.Error()
	}
}

// present shows tokens to both sides in one context and compares the verdicts.
func (r *round) present(note string, c context, tokens [][]byte) error {
	here, err := r.here.judge(tokens, c)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Here.Name, err)
	}
	there, err := r.there.judge(tokens, c)
	if err != nil {
		return fmt.Errorf("%s: %w", r.There.Name, err)
	}
	for i := range tokens {
		r.count(here[i], there[i])
		if agree(here[i], there[i]) {
			continue
		}
		err := r.disagree(Disagreement{Note: note, Context: c, Token: tokens[i], Here: here[i], There: there[i]})
		if err != nil {
			return err
		}
	}
	return nil
}

// agree compares the outcome, then stage and reason or the state. Faults agree
// with nothing.
func agree(a, b lab.Answer) bool {
	ra, rb := codecs.Rejected(a.Err), codecs.Rejected(b.Err)
	switch {
	case a.Err == nil && b.Err == nil:
		return bytes.Equal(a.Payload, b.Payload)
	case ra != nil && rb != nil:
		return *ra == *rb
	default:
		return errors.Is(a.Err, codecs.ErrUnsupported) && errors.Is(b.Err, codecs.ErrUnsupported)
	}
}

// count counts a presentation under what both said of it.
func (r *round) count(here, there lab.Answer) {
	ra, rb := codecs.Rejected(here.Err), codecs.Rejected(there.Err)
	switch {
	case errors.Is(here.Err, codecs.ErrUnsupported) && errors.Is(there.Err, codecs.ErrUnsupported):
		r.tally.Unsupported++
		return
	case here.Err == nil && there.Err == nil:
		r.tally.Accepted++
	case ra != nil && rb != nil && ra.Stage == rb.Stage:
		r.tally.Refused[ra.Stage]++
	}
	r.tally.Tokens++
}

// disagree completes a disagreement and passes it on.
func (r *round) disagree(d Disagreement) error {
	r.tally.Disagreed++
	d.HereName, d.ThereName, d.PeerVersion = r.Here.Name, r.There.Name, r.There.Spec
	d.Note = fmt.Sprintf("seed %d round %d: %s", r.Seed, r.index, d.Note)
	d.Config, d.kind = r.config, r.Here.Kind()
	return r.Found(d)
}
