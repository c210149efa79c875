package attack

import (
	"bytes"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

func (t *T) spelled(tok *Token, call verdict.Call, how string) {
	if tok.Same(call) {
		t.Refute(codecs.Canonical, "a second spelling is accepted: "+how, tok.Sealed, call)
		return
	}
	t.Refute(codecs.Integrity, "an altered token is accepted with another state: "+how, tok.Sealed, call)
}

// Change presents tok with other bytes. If they are accepted, they are a token that was never sealed, and
// with the same state also a second spelling.
func (t *T) Change(in *Instance, tok *Token, altered []byte, how string) {
	if bytes.Equal(altered, tok.Text) {
		return
	}
	t.Try(codecs.Integrity)
	if call, ok := in.Accepts(altered, tok.Under); ok {
		t.changed(tok, call, how)
	}
}

func (t *T) changed(tok *Token, call verdict.Call, how string) {
	state := "another state"
	if tok.Same(call) {
		if tok.Format().Spells(call.Token) {
			return // other attacks look for spellings
		}
		state = "the same state"
		t.Refute(codecs.Canonical, "a token with other bytes is accepted: "+how, tok.Sealed, call)
		if f := tok.Format(); f.SparesPrefix(call.Token) || f.OtherLetters(call.Token) {
			return
		}
	}
	t.Refute(codecs.Integrity, fmt.Sprintf("a token that was never sealed is accepted with %s: %s", state, how), tok.Sealed, call)
}

// Spellings presents alterations that carry the same bytes as tok.
func (t *T) Spellings(in *Instance, tok *Token, all tokenfmt.Alterations) {
	t.present(in, tok, all, []codecs.Property{codecs.Canonical, codecs.Integrity}, t.spelled)
}

// Changes presents alterations that carry other bytes than tok.
func (t *T) Changes(in *Instance, tok *Token, all tokenfmt.Alterations) {
	t.present(in, tok, all, []codecs.Property{codecs.Integrity}, t.changed)
}

// TaggedChanges is Changes for alterations that end in a tag. If the same alteration with
// another end is accepted with the same state, the reader ignores the tag, and the finding is
// dropped.
func (t *T) TaggedChanges(in *Instance, tok *Token, all tokenfmt.Alterations) {
	t.present(in, tok, all, []codecs.Property{codecs.Integrity}, func(tok *Token, call verdict.Call, how string) {
		text := call.Token
		if other, ok := in.Accepts(slices.Concat(text[:max(0, len(text)-8)], t.Letters(8)), tok.Under); !ok || !tok.Same(other) {
			t.changed(tok, call, how)
		}
	})
}

// present presents alterations, in batches if the design judges batches, and passes accepted
// ones to judge. A token that a batch does not refuse is presented again alone.
func (t *T) present(in *Instance, tok *Token, all tokenfmt.Alterations, aims []codecs.Property, judge func(*Token, verdict.Call, string)) {
	one := func(a tokenfmt.Alteration) {
		if call, ok := in.Accepts(a.Text, tok.Under); ok {
			judge(tok, call, a.How)
		}
	}
	var waiting []tokenfmt.Alteration
	flush := func() {
		texts := make([][]byte, len(waiting))
		for i, a := range waiting {
			texts[i] = a.Text
		}
		answers, err := in.UnsealBatch(texts, tok.Under)
		for i, a := range waiting {
			if err != nil || codecs.Rejected(answers[i].Err) == nil {
				one(a)
			}
		}
		waiting = waiting[:0]
	}
	all(func(a tokenfmt.Alteration) {
		if bytes.Equal(a.Text, tok.Text) {
			return
		}
		t.Try(aims...)
		if !in.Batched() {
			one(a)
			return
		}
		if waiting = append(waiting, tokenfmt.Alteration{Text: slices.Clone(a.Text), How: a.How}); len(waiting) == atOnce {
			flush()
		}
	})
	if len(waiting) > 0 {
		flush()
	}
}

// Readable reports whether the state can be read in the token without a key.
func (t *T) Readable(tok *Token) bool { return len(tokenfmt.Find(tok.Text, LettersOf(tok.State))) > 0 }

// Anything accepts all evidence. It is for claims about the cost of a call, or about a value
// computed from the calls.
func Anything([]verdict.Call) bool { return true }

// Accepted reports whether the last call presents a token and is accepted.
func Accepted(calls []verdict.Call) bool {
	n := len(calls)
	return n > 0 && calls[n-1].Op == verdict.OpUnseal && calls[n-1].Answer.Outcome == verdict.Done
}

// Sealed returns a check that the evidence holds at least n sealed tokens.
func Sealed(n int) func([]verdict.Call) bool {
	return func(calls []verdict.Call) bool {
		sealed := 0
		for _, c := range calls {
			if c.Op == verdict.OpSeal && c.Answer.Outcome == verdict.Done && len(c.Answer.Out) > 0 {
				sealed++
			}
		}
		return sealed >= n
	}
}

// Differ reports whether the last two calls are refusals that a presenter can tell apart.
func Differ(calls []verdict.Call) bool {
	n := len(calls)
	if n < 2 {
		return false
	}
	a, b := calls[n-2].Answer, calls[n-1].Answer
	return a.Outcome == verdict.Refused && b.Outcome == verdict.Refused && (a.Stage != b.Stage || a.Reason != b.Reason || a.Text != b.Text)
}

// shows returns the check that evidence about p has to pass. For most properties, a token must
// have been accepted.
func shows(p codecs.Property) func([]verdict.Call) bool {
	switch p {
	case codecs.Integrity, codecs.Canonical, codecs.BindsMethod, codecs.BindsTarget, codecs.BindsArguments, codecs.BindsPrincipal,
		codecs.BindsAudience, codecs.Unambiguous, codecs.Expiry, codecs.KeySeparation, codecs.KeyCommitting, codecs.SingleUse:
		return Accepted
	case codecs.Confidentiality, codecs.FreshNonces, codecs.Unlinkable, codecs.NonceMisuseResistant:
		return Sealed(1)
	default:
		return Anything
	}
}

// Refuses presents a sealed token in c and expects a refusal: acceptance refutes p.
func (t *T) Refuses(p codecs.Property, in *Instance, sealed verdict.Call, c codecs.Context, issue string, args ...any) {
	t.Try(p)
	if call, ok := in.Accepts(sealed.Answer.Out, c); ok {
		t.Refute(p, fmt.Sprintf(issue, args...), sealed, call)
	}
}

// RefuteReadable records that the state can be read without a key.
func (t *T) RefuteReadable(tok *Token) {
	t.Try(codecs.Confidentiality)
	t.RefuteIf(codecs.Confidentiality, Sealed(1), "the state can be read in the token", tok.Sealed)
}
