package attack

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/internal/verdict"
)

// A Party is the subject under one ring. Its calls never fail: what came back
// is in the answer, panics included.
type Party struct {
	trial    *Trial
	keys     [][]byte
	ttl      *time.Duration
	instance *lab.Instance
}

// A Token is a token that the subject sealed, with what it was sealed for.
type Token struct {
	Text   []byte
	State  []byte
	Under  verdict.Context
	Sealed verdict.Call
	Opened verdict.Call // its state as an honest presenter gets it
	party  *Party       // which sealed it
}

// shape is the shape of the token, as it is told from it and its kin.
func (t *Token) shape() shape { return shapeOf(t.Text, t.party.trial.kinOf(t)...) }

// raws are all bytes that the token carries, decoded.
func (t *Token) raws() []byte { return t.shape().raws() }

// Returned is the state that comes back for the honest token. Schemes that
// carry a value and not its bytes may spell it otherwise than State.
func (t *Token) Returned() []byte { return t.Opened.Answer.Out }

// seal seals state for c.
func (p *Party) seal(state []byte, c verdict.Context) verdict.Call {
	return p.call(verdict.OpSeal, state, c, func() ([]byte, error) { return p.sealPlain(state, c) })
}

// unseal presents text in c, and keeps it from whoever writes to arguments.
func (p *Party) unseal(text []byte, c verdict.Context) verdict.Call {
	return p.call(verdict.OpUnseal, text, c, func() ([]byte, error) { return p.unsealPlain(nil, bytes.Clone(text), c) })
}

// ask presents text itself, and leaves it to the caller what a fault means.
func (p *Party) ask(text []byte, c verdict.Context) verdict.Call {
	call := verdict.Call{Op: verdict.OpUnseal, Keys: p.keys, TTL: p.ttl, Token: text}
	if p.isScheme() {
		call.Context = &c
	}
	p.trial.calls++
	call.Answer = answer(verdict.OpUnseal, func() ([]byte, error) { return p.unsealPlain(nil, text, c) })
	return call
}

// sealQuietly seals state, and leaves it to the caller what a fault means.
func (p *Party) sealQuietly(state []byte, c verdict.Context) verdict.Answer {
	p.trial.calls++
	return answer(verdict.OpSeal, func() ([]byte, error) { return p.sealPlain(state, c) })
}

func (p *Party) sealPlain(state []byte, c verdict.Context) ([]byte, error) {
	return p.instance.Seal(nil, state, c.Codecs())
}

func (p *Party) unsealPlain(dst, text []byte, c verdict.Context) ([]byte, error) {
	return p.instance.Unseal(dst, text, c.Codecs())
}

// unsealBatch judges many tokens in one call, if the subject can.
func (p *Party) unsealBatch(texts [][]byte, c verdict.Context) ([]lab.Answer, error) {
	return p.instance.UnsealBatch(texts, c.Codecs())
}

func (p *Party) isScheme() bool { return p.trial.Subject.IsScheme() }

// accepts reports whether text is accepted in c, and the call.
func (p *Party) accepts(text []byte, c verdict.Context) (verdict.Call, bool) {
	call := p.unseal(text, c)
	return call, call.Answer.Outcome == verdict.Done
}

func (p *Party) call(op verdict.Op, in []byte, c verdict.Context, do func() ([]byte, error)) verdict.Call {
	if p.trial.broken() {
		return verdict.Call{Op: op, Answer: verdict.Answer{Outcome: verdict.Unsupported, Text: "not asked: too many faults"}}
	}
	p.trial.calls++
	call := verdict.Call{Op: op, Keys: p.keys, TTL: p.ttl}
	if op == verdict.OpSeal {
		call.State = in
	} else {
		call.Token = in
	}
	if p.isScheme() {
		call.Context = &c
	}
	call.Answer = answer(op, do)
	if call.Answer.Outcome == verdict.Fault {
		p.trial.fault(call)
	}
	return call
}

// answer runs do and says what came of it.
func answer(op verdict.Op, do func() ([]byte, error)) (a verdict.Answer) {
	defer func() {
		if r := recover(); r != nil {
			a = verdict.Answer{Outcome: verdict.Fault, Text: fmt.Sprintf("panic: %v", r)}
		}
	}()
	out, err := do()
	if err == nil {
		return verdict.Answer{Outcome: verdict.Done, Out: out}
	}
	if r := codecs.Rejected(err); r != nil {
		return verdict.Answer{Outcome: verdict.Refused, Stage: r.Stage.String(), Reason: r.Reason, Text: err.Error()}
	}
	if errors.Is(err, codecs.ErrUnsupported) {
		return verdict.Answer{Outcome: verdict.Unsupported}
	}
	// Sealing may fail for reasons of its own, a limit that is reached for
	// one; unsealing may not. A worker that broke has a fault either way.
	if op == verdict.OpSeal && !errors.Is(err, codecs.ErrFault) {
		return verdict.Answer{Outcome: verdict.Unsupported, Text: err.Error()}
	}
	return verdict.Answer{Outcome: verdict.Fault, Text: err.Error()}
}

// accepted returns the first of the texts that is accepted in c, in as few
// journeys as the subject allows.
func (p *Party) accepted(texts [][]byte, c verdict.Context) (verdict.Call, bool) {
	if len(texts) > 1 {
		if vs, err := p.unsealBatch(texts, c); err == nil && len(vs) == len(texts) {
			p.trial.calls += len(texts)
			at := slices.IndexFunc(vs, func(v lab.Answer) bool { return v.Err == nil })
			if at < 0 {
				return verdict.Call{}, false
			}
			texts = texts[at:]
		}
	}
	for _, text := range texts {
		if call, ok := p.accepts(text, c); ok {
			return call, true
		}
	}
	return verdict.Call{}, false
}

// mint seals state for c and opens it again. It reports false where the
// subject does not seal that, or does not take its own token back. Where a
// token is spent by opening it, the one that is returned has a twin that was.
func (p *Party) mint(state []byte, c verdict.Context) (*Token, bool) {
	sealed := p.seal(state, c)
	if sealed.Answer.Outcome != verdict.Done {
		return nil, false
	}
	opened := p.unseal(sealed.Answer.Out, c)
	if opened.Answer.Outcome != verdict.Done {
		return nil, false
	}
	if p.spends(sealed.Answer.Out, c) {
		sealed = p.seal(state, c)
	}
	return &Token{sealed.Answer.Out, state, c, sealed, opened, p}, true
}

// spends reports whether the subject refuses the token, which it has taken
// before: each of its tokens is good for once. It is asked of one token only.
func (p *Party) spends(text []byte, c verdict.Context) bool {
	s := p.trial.Subject
	if s.spends == nil {
		_, again := p.accepts(text, c)
		spends := !again
		s.spends = &spends
	}
	return *s.spends
}

// same reports whether the call released what the honest token does.
func (t *Token) same(c verdict.Call) bool { return bytes.Equal(c.Answer.Out, t.Returned()) }

// with returns the context after a change; pointers are the change's own.
func with(c verdict.Context, change func(*verdict.Context)) verdict.Context {
	c.Arguments = slices.Clone(c.Arguments)
	change(&c)
	return c
}

func text(s string) *string { return &s }
