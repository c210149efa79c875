package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"sealab/codecs"
	"sealab/internal/lab"
)

// A Case is one question to a worker and its answer, in the words of the
// protocol and complete with its keys, so that anyone can ask it again. Without
// Ask the question is whether the worker takes the configuration of Open.
type Case struct {
	Open   json.RawMessage `json:"open"`
	Ask    json.RawMessage `json:"ask,omitempty"`
	Answer json.RawMessage `json:"answer"`
}

// caseHandle is the handle of the question: the first that a session gives out.
// caseTokens is the length of the longest batch that a case may ask about.
const (
	caseHandle = 1
	caseTokens = 1 << 16
)

// OpenCase returns the case in which a configuration was taken or, with err, not.
func OpenCase(c codecs.Config, err error) (Case, error) {
	l, answer := opening(c), newLine()
	if err != nil {
		answer.refused(err)
	} else {
		answer.done()
	}
	return Case{Open: l.end(), Answer: answer.end()}, errors.Join(l.err, answer.err)
}

// Judge returns the case in which the scheme of c verified a token in a context, or
// the codec of c unsealed it.
func (c Case) Judge(kind codecs.Kind, token []byte, b *codecs.Context, v lab.Answer) (Case, error) {
	op, answer := verbsOf(kind), newLine()
	ask := newLine().asking(op.judge, caseHandle)
	op.toJudge(ask, token, b)
	if v.Err != nil {
		answer.failed(v.Err)
	} else {
		op.put(answer.done(), v.Payload)
	}
	return c.with(ask, answer)
}

// Make returns the case in which the codec or scheme of c made a token, or failed with
// err. The case does not hold the token itself.
func (c Case) Make(kind codecs.Kind, state []byte, b *codecs.Context, err error) (Case, error) {
	op, answer := verbsOf(kind), newLine()
	ask := newLine().asking(op.make, caseHandle)
	op.put(ask, state)
	op.within(ask, b)
	if err != nil {
		answer.failed(err)
	} else {
		answer.done()
	}
	return c.with(ask, answer)
}

// with returns the case with another question and answer.
func (c Case) with(ask, answer *line) (Case, error) {
	return Case{c.Open, ask.end(), answer.end()}, errors.Join(ask.err, answer.err)
}

// Replay asks the question of a design in this process, and returns its verdict
// and whether the case has the same. Tokens and the texts of refused
// configurations may differ. An error is a case that cannot be read or whose
// configuration the design does not take.
func (c Case) Replay(d codecs.Design) (got lab.Answer, agrees bool, err error) {
	if len(c.Ask) == 0 {
		return c.compare(replaying(d).answer(c.Open))
	}
	r, err := NewReplayer(d, c.Open)
	if err != nil {
		return got, false, err
	}
	return r.Replay(c)
}

// A Replayer is a design in this process that was set up once, for cases that
// all open it alike. It is not for calls at the same time.
type Replayer struct{ session *session }

// NewReplayer sets a design up as the Open of a case says.
func NewReplayer(d codecs.Design, open json.RawMessage) (*Replayer, error) {
	s := replaying(d)
	if err := isOK(s.answer(open)); err != nil {
		return nil, fmt.Errorf("opening %s: %w", d.Name, err)
	}
	return &Replayer{s}, nil
}

// Replay is [Case.Replay] for a case with a question. Its Open is not looked at.
func (r *Replayer) Replay(c Case) (got lab.Answer, agrees bool, err error) {
	return c.compare(r.session.answer(c.Ask))
}

func replaying(d codecs.Design) *session { return newSession(&Server{Design: d, Version: "replay"}) }

// compare returns the verdict of an answer, and whether it is that of the case.
func (c Case) compare(answer []byte) (got lab.Answer, agrees bool, err error) {
	r, err := parseResponse(answer, caseTokens)
	if err != nil {
		return got, false, err
	}
	if bytes.Equal(answer, c.Answer) {
		return r.verdict(), true, nil
	}
	want, err := parseResponse(c.Answer, caseTokens)
	if err != nil {
		return got, false, fmt.Errorf("the case's answer: %w", err)
	}
	return r.verdict(), sameAnswer(*r, *want), nil
}

func isOK(answer []byte) error {
	r, err := parseResponse(answer, caseTokens)
	if err != nil {
		return err
	}
	return r.outcome()
}

// sameAnswer compares two answers except for the parts that always differ.
func sameAnswer(a, b response) bool {
	for _, r := range []*response{&a, &b} {
		r.Token, r.Handle = nil, nil
		if r.Refused != nil {
			r.Refused = new("")
		}
	}
	return reflect.DeepEqual(a, b)
}

// verdict returns a response as a verdict.
func (a *response) verdict() lab.Answer {
	v := lab.Answer{Payload: a.State, Err: a.outcome()}
	if v.Payload == nil {
		v.Payload = a.Payload
	}
	return v
}
