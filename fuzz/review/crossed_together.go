package review

import (
	"fmt"
	"strings"
)

const (
	callsAtOnce = 4
	triesAtOnce = 3
)

// mixedAtOnce makes calls at once, each with a word of its own and as the users in turn: the
// first calls of what takes a text, and the last rounds of flows. It refutes if an answer has
// the word of another call in the place of its own, or is that to the other user.
func (t *T) mixedAtOnce() {
	if t.r.client.http == nil {
		return
	}
	flows := t.wordy()
	for i := range flows {
		flows[i].Rounds, flows[i].Last = nil, nil
	}
	flows = flows[:min(len(flows), maxCrossed)]
	for _, o := range t.r.oracles {
		if o.flow.Last != nil && o.good.Kind == completed && takesText(o.flow) {
			flows = append(flows, o.flow)
		}
	}
	for i, f := range flows {
		label := fmt.Sprintf("%d calls at once, %d: %s", callsAtOnce, i, f)
		if t.only != "" && t.only != label {
			continue
		}
		for range triesAtOnce {
			if t.mixesAtOnce(f, label) {
				return
			}
		}
	}
}

// mixesAtOnce makes calls of a flow at once.
func (t *T) mixesAtOnce(f Flow, label string) bool {
	var calls []Call
	var words []string
	for i := range callsAtOnce {
		as := first
		if len(t.r.opts.Target.Second) > 0 && i%2 == 1 {
			as = second
		}
		call, word, ok := t.wordyCall(f, as)
		if !ok {
			return false
		}
		calls, words = append(calls, call), append(words, word)
	}
	answers := t.together(calls)
	for i, a := range answers {
		if a.Kind != completed && a.Kind != asked {
			return false
		}
		t.seen(variant{name: label}, a)
		text := a.Text + a.questionTexts()
		for j, word := range words {
			if i != j && strings.Contains(text, word) && !strings.Contains(text, words[i]) {
				t.fault(label, Critical, "a call that is made beside others is answered with the argument of another one", a)
				return true
			}
		}
	}
	return len(t.r.opts.Target.Second) > 0 && t.ofTheOther(f, label, answers, words)
}

// wordyCall is a call of a flow with a new word: the last round, or the first one if the flow
// has no answers.
func (t *T) wordyCall(f Flow, as user) (Call, string, bool) {
	word := t.word()
	f = f.with(withText(f.Arguments, f.offer.input(), word))
	call := f.call(as)
	if f.Last == nil {
		return call, word, true
	}
	token, a, err := t.r.client.mint(t.ctx, f, as)
	call.State, call.Answers = quote(token), t.r.client.rekeyed(f.Last, a.Questions)
	return call, word, err == nil
}

// ofTheOther compares answers that were given at once, to the first user and the second in
// turn, with those that each user gets alone. It refutes if one is that of the other user.
func (t *T) ofTheOther(f Flow, label string, answers []Answer, words []string) bool {
	var own [2]string
	for i := range 4 {
		call, word, ok := t.wordyCall(f, []user{first, second}[i%2])
		if !ok {
			return false
		}
		a := t.r.client.call(t.ctx, call)
		text := blank(strings.ReplaceAll(a.Text, word, ""))
		if text == "" || i > 1 && text != own[i%2] {
			return false
		}
		own[i%2] = text
	}
	for i, a := range answers {
		if text := blank(strings.ReplaceAll(a.Text, words[i], "")); own[0] != own[1] && text == own[1-i%2] {
			t.fault(label, Critical, fmt.Sprintf("a call that is made beside those of another user is answered as to that one: %s, and alone %s", short(text, 80), short(own[i%2], 80)), a)
			return true
		}
	}
	return false
}
