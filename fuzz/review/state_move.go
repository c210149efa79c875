package review

import (
	"context"
	"fmt"
)

// A move is a token of one flow in another.
type move struct {
	source, target         Flow
	sourceUser, targetUser user
	// strict wants the class of the target's own token, not only that the token
	// is not refused.
	strict bool
}

// goes reports whether a token goes on where it was moved to.
func (m move) goes(o *oracle, token string, a Answer) bool {
	if m.strict {
		return o.judge(token, a) == accepted
	}
	begins := a.Kind == asked && o.good.going() != o.fresh.going() && a.going() == o.fresh.going()
	return a.conclusive() && !a.refused() && !begins && (o.bad.refused() || a.going() != o.bad.going())
}

// moved reports whether a token is accepted where it was not minted: twice, with
// a token of the place itself accepted and garbage refused there.
func (t *T) moved(m move) (evidence string, is bool, reason string) {
	o, reason := t.place(m)
	if reason != "" {
		return "", false, fmt.Sprintf("%s: %s", m.target, reason)
	}
	if evidence, is, reason = t.moves(m, o); !is {
		return evidence, is, reason
	}
	if o, reason = t.r.control(t.ctx, m.target, m.targetUser); reason != "" {
		return "", false, fmt.Sprintf("%s: %s", m.target, reason)
	}
	return t.moves(m, o)
}

// place returns the controls of the place that a token is moved to. Those of a place where
// the check has been before are not carried out again.
func (t *T) place(m move) (*oracle, string) {
	key := fmt.Sprintf("%d %s %s %s %s %s", m.targetUser, m.target.Method, m.target.Target, m.target.Arguments, m.target.Rounds, m.target.Last)
	if o := t.places[key]; o != nil {
		return o, ""
	}
	o, reason := t.r.control(t.ctx, m.target, m.targetUser)
	if reason == "" {
		t.places[key] = o
	}
	return o, reason
}

// moves reports whether a token is accepted by the controls of a place.
func (t *T) moves(m move, o *oracle) (evidence string, is bool, reason string) {
	if o.presence {
		return "", false, fmt.Sprintf("%s: any text is accepted as a state", m.target)
	}
	for range 2 {
		token, _, err := t.r.client.mint(t.ctx, m.source, m.sourceUser)
		if err != nil {
			return "", false, err.Error()
		}
		a, after := t.r.client.present(t.ctx, m.target, quote(token), m.targetUser), ""
		if !m.goes(o, token, a) {
			// A server may remember its verdict by a part of the request.
			t.r.client.present(t.ctx, m.source, quote(token), m.sourceUser)
			a, after = t.r.client.present(t.ctx, m.target, quote(token), m.targetUser), ", after it was used in its own place"
		}
		if !a.conclusive() {
			return "", false, fmt.Sprintf("%s: %v", m.target, a)
		}
		t.seen(variant{name: t.check.ID}, a)
		if !m.goes(o, token, a) {
			return "", false, ""
		}
		evidence = fmt.Sprintf("token of %s %s: at %s %s%s -> %v; garbage there -> %v", m.source, m.source.Arguments, m.target, m.target.Arguments, after, a, o.bad)
	}
	if o.blind() {
		if again := t.r.beginsAgain(t.ctx); again != "" {
			return "", false, again
		}
	}
	return evidence, true, ""
}

// blind reports whether a good token gets the question of a call without one.
func (o *oracle) blind() bool {
	return o.flow.Last == nil && o.good.going() == o.fresh.going() && !o.messages
}

// sighted returns the prompts and resources that give tokens, with answers. They change
// nothing, and tell a state that is accepted from a flow that begins again.
func (r *Review) sighted(ctx context.Context) []*oracle {
	if r.deep == nil {
		r.deep = []*oracle{}
		for _, o := range r.oracles {
			f := o.flow
			if f.Method == "tools/call" || !o.blind() || !r.answered(ctx, &f, o) {
				continue
			}
			if deeper, reason := r.control(ctx, f, o.user); reason == "" && !deeper.blind() && deeper.bad.refused() {
				r.deep = append(r.deep, deeper)
			}
		}
	}
	return r.deep
}

// answered adds answers to a flow with which its own state goes on.
func (r *Review) answered(ctx context.Context, f *Flow, o *oracle) bool {
	for _, f.Last = range answersTo(o.fresh.Questions) {
		token, _, err := r.client.mint(ctx, *f, o.user)
		if err != nil {
			return false
		}
		if a := r.client.present(ctx, *f, quote(token), o.user); a.Kind == completed || a.Kind == asked && a.going() != o.fresh.going() {
			return true
		}
	}
	return false
}

// beginsAgain reports whether a prompt or resource begins again on the state of another
// call with the same question, and returns the reason why the other flows of such a
// server cannot be judged without effects.
func (r *Review) beginsAgain(ctx context.Context) string {
	for _, o := range r.sighted(ctx) {
		for _, source := range r.oracles {
			from := source.flow
			if from.Method == o.flow.Method && from.Target == o.flow.Target {
				from.Arguments = o.flow.Other
			}
			if r.again != "" || from.Arguments == nil && from.Target == o.flow.Target || source.fresh.going() != o.fresh.going() {
				continue
			}
			if token, _, err := r.client.mint(ctx, from, o.user); err == nil {
				r.noteAgain(o, r.client.present(ctx, o.flow, quote(token), o.user))
			}
		}
	}
	return r.again
}

// noteAgain keeps the fact that a flow begins again on a good state of another call or time.
func (r *Review) noteAgain(o *oracle, a Answer) {
	if a.Kind == asked && o.bad.refused() && !o.blind() && o.verdict(a) == refused {
		r.again = fmt.Sprintf("%s begins again on a good state of another call or time, as this call may: --effects tells that from a state that is accepted", o.flow)
	}
}
