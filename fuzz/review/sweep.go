package review

import (
	"encoding/json"
	"fmt"
)

// A variant is a state made from a token.
type variant struct {
	name string          // stable between tokens
	text string          // the token that is presented
	raw  json.RawMessage // the whole member, if it is not text
}

func (v variant) state() json.RawMessage {
	if v.raw != nil {
		return v.raw
	}
	return quote(v.text)
}

// A hit is a variant that was accepted.
type hit struct {
	variant
	token  string
	answer Answer
}

// blockSize is the number of variants between two controls. Each block has a
// token of its own.
const blockSize = 16

// sweep presents every variant that vary makes of a token and returns those that
// were accepted. A block ends with the unchanged token, which has to be accepted:
// if it is not, its variants are presented again, each with a token of its own.
func (t *T) sweep(vary func(token string) []variant) (hits []hit, tried int, reason string) {
	token, reason := t.mint()
	if reason != "" {
		return nil, 0, reason
	}
	var names []string
	for _, v := range vary(token) {
		if t.only == "" || v.name == t.only {
			names = append(names, v.name)
		}
	}
	for len(names) > 0 {
		n := min(blockSize, len(names))
		found, count, reason := t.block(vary, names[:n])
		if reason != "" {
			for _, name := range names[:n] {
				again, one, reason := t.block(vary, []string{name})
				if reason != "" {
					return hits, tried, reason
				}
				found, count = append(found, again...), count+one
			}
		}
		hits, tried = append(hits, found...), tried+count
		names = names[n:]
	}
	return hits, tried, ""
}

// block presents named variants of one token and then the token itself.
func (t *T) block(vary func(token string) []variant, names []string) (hits []hit, tried int, reason string) {
	token, reason := t.mint()
	if reason != "" {
		return nil, 0, reason
	}
	by := map[string]variant{}
	for _, v := range vary(token) {
		by[v.name] = v
	}
	for _, name := range names {
		v, ok := by[name]
		if !ok || v.raw == nil && (v.text == token || t.honest[v.text]) {
			continue
		}
		a := t.r.client.present(t.ctx, t.o.flow, v.state(), t.o.user)
		if a.Kind == noBudget {
			return nil, 0, a.Cause.Error()
		}
		tried++
		t.seen(v, a)
		switch t.o.judge(v.text, a) {
		case accepted:
			hits = append(hits, hit{v, token, a})
		case unclear:
			t.unclear++
		}
	}
	if a := t.r.client.present(t.ctx, t.o.flow, quote(token), t.o.user); t.o.verdict(a) != accepted {
		if len(names) == 1 && len(hits) == 1 && t.spends() {
			return hits, tried, "" // the variant has used the token up
		}
		return nil, 0, fmt.Sprintf("the unchanged token is not accepted afterwards: %v", a)
	}
	if len(hits) == 0 {
		hits = t.afterToken(token, by, names)
	}
	return hits, tried + len(hits), ""
}

// spends reports whether a token is accepted once and then refused, and the next one again.
func (t *T) spends() bool {
	for range 2 {
		token, reason := t.mint()
		if reason != "" {
			return false
		}
		for _, want := range []verdict{accepted, refused} {
			if t.o.verdict(t.r.client.present(t.ctx, t.o.flow, quote(token), t.o.user)) != want {
				return false
			}
		}
	}
	return true
}

// maxCached is the number of variants of a block that are presented again.
const maxCached = 2

// afterToken presents variants again that share the beginning or the end of a token,
// after the token itself: a server may remember its verdict by a part of the text.
func (t *T) afterToken(token string, by map[string]variant, names []string) (hits []hit) {
	const part = 16
	n := 0
	for _, name := range names {
		v, ok := by[name]
		same := len(v.text) > 2*part && len(token) > 2*part && (v.text[:part] == token[:part] || v.text[len(v.text)-part:] == token[len(token)-part:])
		if !ok || v.raw != nil || !same || v.text == token || t.honest[v.text] || n == maxCached {
			continue
		}
		n++
		a := t.r.client.present(t.ctx, t.o.flow, v.state(), t.o.user)
		if t.o.judge(v.text, a) == accepted {
			hits = append(hits, hit{v, token, a})
		}
	}
	return hits
}

// mint returns a fresh token and remembers it as an honest one.
func (t *T) mint() (token, reason string) {
	token, _, err := t.r.client.mint(t.ctx, t.o.flow, t.o.user)
	if err != nil {
		return "", "control: " + err.Error()
	}
	t.honest[token] = true
	return token, ""
}

// confirm presents a variant twice more, each time made of a fresh token, with
// garbage beside it that has to be refused.
func (t *T) confirm(h hit, vary func(token string) []variant) bool {
	if t.o.presence {
		return true
	}
	for range 2 {
		found, _, reason := t.block(vary, []string{h.name})
		if reason != "" || len(found) == 0 {
			return false
		}
		if a := t.r.client.present(t.ctx, t.o.flow, quote(garbageState), t.o.user); t.o.verdict(a) != refused {
			return false
		}
	}
	return true
}
