package review

import (
	"encoding/json"
	"fmt"
)

func rolledBack(t *T) {
	f := t.o.flow
	if len(f.Rounds) == 0 {
		t.skip("the flow has one round with a state")
		return
	}
	earlier := f
	earlier.Rounds, earlier.Last = f.Rounds[:len(f.Rounds)-1], f.Rounds[len(f.Rounds)-1]
	token, _, err := t.r.client.mint(t.ctx, earlier, t.o.user)
	if err != nil {
		t.skip("%v", err)
		return
	}
	one := t.r.client.present(t.ctx, earlier, quote(token), t.o.user)
	two := t.r.client.present(t.ctx, earlier, quote(token), t.o.user)
	if !one.conclusive() || !two.conclusive() {
		t.skip("%v, then %v", one, two)
		return
	}
	t.seen(variant{name: "rolled back"}, two)
	if one.Kind == asked && two.going() == one.going() && t.oneTime() {
		t.refute(Finding{Case: "the round before", Severity: Suggestion, Issue: "the token of an earlier round is accepted after a later one", Evidence: fmt.Sprintf("first %v, then %v", one, two), Want: "accepted once", Got: "accepted twice"})
	}
}

// earlyAnswers presents the token of the first round with the answers of the last, whose
// question was not asked.
func (t *T) earlyAnswers() {
	f := t.o.flow
	if len(f.Rounds) == 0 || f.Last == nil || t.o.good.Kind != completed || sameKeys(f.Last, f.Rounds[0]) {
		return
	}
	early := f
	early.Rounds = nil
	token, _, err := t.r.client.mint(t.ctx, early, t.o.user)
	if err != nil {
		return
	}
	a := t.r.client.present(t.ctx, early, quote(token), t.o.user)
	if t.seen(variant{name: "early"}, a); a.Kind == completed && (t.o.alike(a) || t.o.resembles(a) && t.asksFor(early)) {
		t.refute(Finding{Case: "answers of the last round", Severity: Critical, Issue: "the token of the first round runs the tool to its end with the answers of the last",
			Evidence: fmt.Sprintf("answers %s -> %v; in the last round: %v", f.Last, a, t.o.good), Want: "the first question again", Got: "completed", Flow: &f})
	}
}

// asksFor reports whether a flow asks again if answers stand under keys of no question.
func (t *T) asksFor(f Flow) bool {
	f.Last = underOtherKeys(f.Last)
	return t.fresh(f, t.o).Kind == asked
}

// sameKeys reports whether answers are to a question of the same name.
func sameKeys(one, two json.RawMessage) bool {
	for key := range members(one) {
		if members(two)[key] != nil {
			return true
		}
	}
	return false
}

func skipped(t *T) {
	t.prefer(func(f Flow) bool { return len(f.Rounds) > 0 })
	t.earlyAnswers()
	t.prefer(t.r.oneTime)
	for _, o := range append([]*oracle{t.o}, t.r.oracles...) {
		if t.o = o; o.flow.Last != nil && o.good.Kind == completed && t.withoutState() {
			return
		}
	}
	t.emptyState()
	if t.trials == 0 {
		t.skip("the rounds take no answers, or do not run tools to their end")
	}
}

// emptyState presents an empty text as the state.
func (t *T) emptyState() {
	t.otherText("an empty state", func() string { return "" })
}

// otherText presents a text of the server's that is no state in each round. It refutes if the
// round goes on, twice, and begins again without a state.
func (t *T) otherText(what string, text func() string) {
	for _, o := range t.r.oracles {
		for _, f := range o.flow.stages() {
			label := fmt.Sprintf("%s in round %d of %s", what, len(f.Rounds)+1, f.Target)
			if f.Last == nil || o.presence || t.only != "" && t.only != label {
				continue
			}
			state := ""
			goes := func() (Answer, bool) {
				state = text()
				a := t.r.client.present(t.ctx, f, quote(state), o.user)
				t.seen(variant{name: label}, a)
				return a, a.Kind == completed && o.good.Kind == completed && o.alike(a) || a.Kind == asked && a.going() != o.fresh.going()
			}
			call := f.call(o.user)
			call.Answers = f.Last
			if a, is := goes(); is && t.r.client.call(t.ctx, call).going() == o.fresh.going() {
				if _, again := goes(); again {
					t.refute(Finding{Case: label, Severity: Critical, Issue: what + " is accepted in the place of a good one", Evidence: fmt.Sprintf("answers %s with the state %s -> %v; without a state: the first question", f.Last, short(state, 160), a), Want: "refused, or the first question", Got: a.going(), Flow: &o.flow})
					return
				}
			}
		}
	}
}

// withoutState sends the answers of the last round in the first call. It refutes if
// they run the tool to its end.
func (t *T) withoutState() bool {
	call := t.o.flow.call(t.o.user)
	call.Answers = t.o.flow.Last
	a := t.r.client.call(t.ctx, call)
	if !a.conclusive() {
		t.skip("%v", a)
		return true
	}
	t.seen(variant{name: "no state"}, a)
	if a.Kind != completed || !t.o.alike(a) {
		return false
	}
	severity := Suggestion
	if t.oneTime() {
		severity = Critical
	}
	t.refute(Finding{Case: "no state", Severity: severity, Issue: "answers without a state run the tool to its end", Evidence: fmt.Sprintf("answers %s -> %v", call.Answers, a), Want: "the first question", Got: "completed"})
	return true
}
