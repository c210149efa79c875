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

// A Case is one request to a worker with its answer, as protocol messages. It
// includes the keys, so that anyone can repeat it. A Case without Ask records
// whether the worker accepts the configuration in Open.
type Case struct {
	Open   json.RawMessage `json:"open"`
	Ask    json.RawMessage `json:"ask,omitempty"`
	Answer json.RawMessage `json:"answer"`
}

// caseHandle is the handle in a case: the first one that a session opens.
// caseTokens is the maximum number of tokens in a batch of a case.
const (
	caseHandle = 1
	caseTokens = 1 << 16
)

// OpenCase returns the case in which a configuration was accepted or, if err is
// not nil, refused.
func OpenCase(c codecs.Config, err error) (Case, error) {
	l, answer := openRequest(c), newLine()
	if err != nil {
		answer.refused(err)
	} else {
		answer.done()
	}
	return Case{Open: l.end(), Answer: answer.end()}, errors.Join(l.err, answer.err)
}

// Judge returns the case in which the scheme of c verified token in context b,
// or the codec of c unsealed it, with the answer v.
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

// Make returns the case in which the codec or scheme of c made a token, or
// failed with err. The case does not hold the token.
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

// with returns the case with a request and an answer.
func (c Case) with(ask, answer *line) (Case, error) {
	return Case{c.Open, ask.end(), answer.end()}, errors.Join(ask.err, answer.err)
}

// Replay sends the request to a design in this process. It returns the answer,
// and reports whether it agrees with the case. Tokens and the texts of refused
// configurations may differ. Replay fails if the case cannot be read or the
// design refuses its configuration.
func (c Case) Replay(d codecs.Design) (got lab.Answer, agrees bool, err error) {
	if len(c.Ask) == 0 {
		return c.compare(newReplaySession(d).answer(c.Open))
	}
	r, err := NewReplayer(d, c.Open)
	if err != nil {
		return got, false, err
	}
	return r.Replay(c)
}

// A Replayer replays cases on a design that was opened once. All cases must
// have the same Open. It is not safe for concurrent use.
type Replayer struct{ session *session }

// NewReplayer opens a design with the configuration in the Open of a case.
func NewReplayer(d codecs.Design, open json.RawMessage) (*Replayer, error) {
	s := newReplaySession(d)
	if err := isOK(s.answer(open)); err != nil {
		return nil, fmt.Errorf("opening %s: %w", d.Name, err)
	}
	return &Replayer{s}, nil
}

// Replay replays a case as [Case.Replay] does, but ignores its Open. The case
// must have an Ask.
func (r *Replayer) Replay(c Case) (got lab.Answer, agrees bool, err error) {
	return c.compare(r.session.answer(c.Ask))
}

func newReplaySession(d codecs.Design) *session {
	return newSession(&Server{Design: d, Version: "replay"})
}

// compare decodes an answer and reports whether it agrees with the case.
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

// sameAnswer compares two answers without the parts that differ in every run.
func sameAnswer(a, b response) bool {
	for _, r := range []*response{&a, &b} {
		r.Token, r.Handle = nil, nil
		if r.Refused != nil {
			r.Refused = new("")
		}
	}
	return reflect.DeepEqual(a, b)
}

// verdict converts a response to an answer.
func (a *response) verdict() lab.Answer {
	v := lab.Answer{Payload: a.State, Err: a.outcome()}
	if v.Payload == nil {
		v.Payload = a.Payload
	}
	return v
}
