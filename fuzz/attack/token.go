package attack

import (
	"bytes"
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// A Token is a token that the design sealed, with its state and context.
type Token struct {
	Text   []byte
	State  []byte
	Under  codecs.Context
	Sealed verdict.Call
	Opened verdict.Call // the call that opened it, or its twin (see [Instance.Mint])
	in     *Instance    // the instance that sealed it

	format *tokenfmt.Format // nil if not inferred yet
}

// Format returns the format of the token, inferred from it and from similar tokens. The
// caller may change its bytes.
func (t *Token) Format() tokenfmt.Format {
	if t.format == nil {
		t.format = new(tokenfmt.Infer(t.Text, t.in.t.references(t)...))
	}
	return t.format.Clone()
}

// Bytes returns all bytes that the token carries, decoded.
func (t *Token) Bytes() []byte { return t.Format().Bytes() }

// Returned returns the state that the honest token gives. It may differ in spelling from State
// if a scheme carries a value rather than its bytes.
func (t *Token) Returned() []byte { return t.Opened.Answer.Out }

// Same reports whether the call returned the state of the honest token.
func (t *Token) Same(c verdict.Call) bool { return bytes.Equal(c.Answer.Out, t.Returned()) }

// Mint seals state for c and opens the token. It reports false if the design does not seal the
// state, or refuses its own token. If opening spends a token, Mint opens a twin instead, sealed
// seconds later, and Opened records that. The time differs because a design without randomness
// seals one state at one time as one token.
func (in *Instance) Mint(state []byte, c codecs.Context) (*Token, bool) {
	sealed := in.Seal(state, c)
	if sealed.Answer.Outcome != verdict.Done {
		return nil, false
	}
	twin, at := sealed, c
	if in.spends(c) {
		at = Later(c, time.Duration(1+in.t.Design.twins.Add(1)%maxTwin)*time.Second)
		twin = in.Seal(state, at)
	}
	opened := in.Unseal(twin.Answer.Out, at)
	if opened.Answer.Outcome != verdict.Done {
		return nil, false
	}
	return &Token{Text: sealed.Answer.Out, State: state, Under: c, Sealed: sealed, Opened: opened, in: in}, true
}

// maxTwin is the number of distinct times at which twins are sealed.
const maxTwin = 1000

// spends reports whether the design accepts a token only once. It tries this with one token and
// keeps the answer.
func (in *Instance) spends(c codecs.Context) bool {
	d := in.t.Design
	d.mu.Lock()
	known := d.spends
	d.mu.Unlock()
	if known != nil {
		return *known
	}
	sealed := in.Seal(honestState, c)
	if _, once := in.Accepts(sealed.Answer.Out, c); !once {
		return false
	}
	_, again := in.Accepts(sealed.Answer.Out, c)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spends = new(!again)
	return !again
}

// TokenOf returns a token of the instance that was not sealed by Mint.
func (in *Instance) TokenOf(sealed verdict.Call, c codecs.Context) *Token {
	return &Token{Text: sealed.Answer.Out, State: sealed.State, Under: c, Sealed: sealed, in: in}
}

// The number of reference tokens of a format, and the number of the first key that seals them.
const (
	referenceCount = 3
	referenceKeys  = 900
)

// references returns tokens from which the format of tok is inferred. Each is sealed under a
// different key, for a state of a different length. They are made once per number of segments
// and do not depend on the seed.
func (t *T) references(tok *Token) [][]byte {
	n := tokenfmt.SegmentCount(tok.Text)
	t.Design.mu.Lock()
	all, ok := t.Design.similar[n]
	t.Design.mu.Unlock()
	if ok {
		return all
	}
	state := func(n int) []byte { return fmt.Appendf(nil, `{"step":"%s"}`, bytes.Repeat([]byte("k"), n)) }
	length := max(24, len(tok.State)-len(state(0)))
	for i := range referenceCount {
		in, err := t.Open(t.Secret(referenceKeys + i))
		if err != nil {
			continue
		}
		if c := in.Seal(state(length-i), tok.Under); len(c.Answer.Out) > 0 {
			all = append(all, c.Answer.Out)
		}
	}
	t.Design.mu.Lock()
	defer t.Design.mu.Unlock()
	if t.Design.similar == nil {
		t.Design.similar = map[int][][]byte{}
	}
	t.Design.similar[n] = all
	return all
}

// PrefixOf returns the prefix of the design, as stated or as inferred from tok.
func (t *T) PrefixOf(tok *Token) string {
	if t.Design.Prefix != "" {
		return t.Design.Prefix
	}
	f := tok.Format()
	if at := f.Encoded(); len(at) > 0 {
		return string(f.Before(at[0]))
	}
	return ""
}

// HeadOf returns the segment and length of the constant head of the tokens of an instance.
func (t *T) HeadOf(in *Instance, tok *Token) (segment, n int, ok bool) {
	var others []tokenfmt.Format
	for range 4 {
		other, ok := in.Mint(t.State(24), tok.Under)
		if !ok {
			return 0, 0, false
		}
		others = append(others, other.Format())
	}
	return tok.Format().Head(others...)
}

// TextsOf returns the tokens of calls that sealed a state.
func TextsOf(calls []verdict.Call) (texts [][]byte) {
	for _, c := range calls {
		texts = append(texts, c.Answer.Out)
	}
	return texts
}

// MintFor opens the design with a time to live and mints a token. It reports false if either
// fails.
func (t *T) MintFor(ttl time.Duration, c codecs.Context) (*Instance, *Token, bool) {
	in, err := t.OpenFor(&ttl, t.Secret(0))
	if err != nil {
		return nil, nil, false
	}
	tok, ok := in.Mint(t.State(8), c)
	return in, tok, ok
}

// AcceptsFirst reports whether a token like tok that was never presented is accepted in c.
func (in *Instance) AcceptsFirst(tok *Token, c codecs.Context) bool {
	_, ok := in.Accepts(in.Seal(tok.State, tok.Under).Answer.Out, c)
	return ok
}

// Deterministic reports whether the state of tok always gives the same token.
func (in *Instance) Deterministic(tok *Token) bool {
	a := in.Seal(tok.State, tok.Under).Answer.Out
	b := in.Seal(tok.State, tok.Under).Answer.Out
	return bytes.Equal(a, tok.Text) && bytes.Equal(b, tok.Text)
}
