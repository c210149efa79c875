package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"sealab/codecs"
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
const caseHandle = 1

// JudgeCase returns the case in which a token was judged: verified in a context,
// or, by a codec, unsealed.
func JudgeCase(kind codecs.Kind, c codecs.Config, token []byte, b *codecs.Binding, now time.Time, v codecs.Verdict) (Case, error) {
	l, result := operation("unseal").int("handle", caseHandle), "payload_b64"
	if kind == codecs.KindScheme {
		l, result = operation("verify").int("handle", caseHandle), "state_b64"
		within(b, now)(l)
	}
	answer := done().bytes(result, v.Payload)
	if v.Err != nil {
		answer = failed(v.Err)
	}
	return newCase(c, l.text("token", string(token)), answer)
}

// MakeCase returns the case in which a token was made, or with err could not be.
// The token itself is no part of the case.
func MakeCase(kind codecs.Kind, c codecs.Config, state []byte, b *codecs.Binding, now time.Time, err error) (Case, error) {
	l := operation("seal").int("handle", caseHandle).bytes("payload_b64", state)
	if kind == codecs.KindScheme {
		l = operation("mint").int("handle", caseHandle).bytes("state_b64", state)
		within(b, now)(l)
	}
	answer := done()
	if err != nil {
		answer = failed(err)
	}
	return newCase(c, l, answer)
}

// OpenCase returns the case in which a configuration was taken or, with err, not.
func OpenCase(c codecs.Config, err error) (Case, error) {
	l, answer := opening(c), done()
	if err != nil {
		answer = refused(err)
	}
	return Case{Open: l.end(), Answer: answer.end()}, errors.Join(l.err, answer.err)
}

func newCase(c codecs.Config, ask, answer *line) (Case, error) {
	l := opening(c)
	return Case{l.end(), ask.end(), answer.end()}, errors.Join(l.err, ask.err, answer.err)
}

// Replay asks the question of a design in this process, and returns its verdict
// and whether the case has the same. Tokens and the texts of refused
// configurations may differ. An error is a case that cannot be read or whose
// configuration the design does not take.
func (c Case) Replay(d codecs.Design) (got codecs.Verdict, agrees bool, err error) {
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
		return nil, fmt.Errorf("sealab: opening %s: %w", d.Name, err)
	}
	return &Replayer{s}, nil
}

// Replay is [Case.Replay] for a case with a question. Its Open is not looked at.
func (r *Replayer) Replay(c Case) (got codecs.Verdict, agrees bool, err error) {
	return c.compare(r.session.answer(c.Ask))
}

func replaying(d codecs.Design) *session { return newSession(&Server{Design: d, Version: "replay"}) }

// compare returns the verdict of an answer, and whether it is that of the case.
func (c Case) compare(answer []byte) (got codecs.Verdict, agrees bool, err error) {
	r, err := parseResponse(answer)
	if err != nil {
		return got, false, err
	}
	if bytes.Equal(answer, c.Answer) {
		return r.verdict(), true, nil
	}
	want, err := parseResponse(c.Answer)
	if err != nil {
		return got, false, fmt.Errorf("sealab: the case's answer: %w", err)
	}
	return r.verdict(), sameAnswer(*r, *want), nil
}

func isOK(answer []byte) error {
	r, err := parseResponse(answer)
	if err != nil {
		return err
	}
	return r.outcome()
}

// sameAnswer compares two answers but for what cannot be the same.
func sameAnswer(a, b response) bool {
	for _, r := range []*response{&a, &b} {
		r.Token, r.Handle = nil, nil
		if r.Refused != nil {
			r.Refused = new("")
		}
	}
	return reflect.DeepEqual(a, b)
}

// verdict returns what a response says as a verdict.
func (r *response) verdict() codecs.Verdict {
	v := codecs.Verdict{Err: r.outcome()}
	switch {
	case r.State != nil:
		v.Payload = *r.State
	case r.Payload != nil:
		v.Payload = *r.Payload
	}
	return v
}
