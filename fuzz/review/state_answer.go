package review

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

func decline(t *T) {
	t.declines()
	t.onOthers(func(*oracle) { t.declines() })
	if len(t.findings) == 0 {
		t.staleAnswers()
	}
}

// declines presents answers that are no acceptances in one flow.
func (t *T) declines() {
	if len(members(t.o.flow.Last)) == 0 || t.o.good.Kind != completed || t.o.mask == nil {
		t.skip("the round takes no answers, or its results cannot be compared")
		return
	}
	plain, reason := t.answeredBy("decline", false)
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	if plain.Kind == completed && t.o.alike(plain) {
		if !t.specific() {
			t.skip("a result that says the same after an acceptance and after a refusal tells nothing")
			return
		}
		t.declined("decline", plain)
		return
	}
	if t.underAnotherKey() {
		return
	}
	for _, action := range []string{"decline", "cancel", "sealab", ""} {
		a, reason := t.answeredBy(action, true)
		if reason != "" {
			t.skip("%s", reason)
			return
		}
		if a.Kind == completed && t.o.alike(a) {
			t.declined(cmp.Or(action, "without an action")+" with the content of an acceptance", a)
			return
		}
	}
}

// underAnotherKey presents the acceptances as answers to questions that were not asked.
func (t *T) underAnotherKey() bool {
	f := t.o.flow
	f.Last = underOtherKeys(f.Last)
	token, reason := t.mint()
	if reason != "" {
		return false
	}
	a := t.r.client.present(t.ctx, f, quote(token), t.o.user)
	if t.seen(variant{name: "another key"}, a); a.Kind != completed || !t.o.alike(a) {
		return false
	}
	t.declined("under another key", a)
	return true
}

// staleAnswers presents the answers of an earlier round in the last one. Without answers
// the round asks again, and so it has to with those.
func (t *T) staleAnswers() {
	for _, o := range t.r.oracles {
		f := o.flow
		if len(f.Rounds) == 0 || f.Last == nil || o.good.Kind != completed || sameKeys(f.Last, f.Rounds[len(f.Rounds)-1]) {
			continue
		}
		none, stale := f, f
		none.Last, stale.Last = json.RawMessage("{}"), f.Rounds[len(f.Rounds)-1]
		a := t.fresh(stale, o)
		if t.seen(variant{name: "stale"}, a); a.Kind != completed || !o.alike(a) && !o.resembles(a) || t.fresh(none, o).Kind != asked {
			continue
		}
		t.refute(Finding{Case: "the answers of an earlier round", Severity: Critical, Issue: "the answers of an earlier round are taken for those of the last", Evidence: fmt.Sprintf("answers %s -> %v; in the last round: %v; without answers: asked", stale.Last, a, o.good), Want: "asked", Got: "completed", Flow: &f})
		return
	}
}

// fresh presents a fresh token of a flow; an answer without a kind if there is none.
func (t *T) fresh(f Flow, o *oracle) Answer {
	token, _, err := t.r.client.mint(t.ctx, f, o.user)
	if err != nil {
		return Answer{}
	}
	return t.r.client.present(t.ctx, f, quote(token), o.user)
}

// resembles reports whether a completion reads as that of a good token but for words that
// have keys or texts of the answers in them.
func (o *oracle) resembles(a Answer) bool {
	words, other := strings.Fields(blank(o.good.Text)), strings.Fields(blank(a.Text))
	if len(other) != len(words) || o.mask == nil {
		return false
	}
	given := textsIn(o.flow.Last)
	for _, answers := range o.flow.Rounds {
		given = append(given, textsIn(answers)...)
	}
	n := 0
	for i, same := range o.mask {
		if !same || words[i] == other[i] {
			continue
		}
		if n++; !slices.ContainsFunc(given, func(text string) bool { return strings.Contains(words[i], text) }) {
			return false
		}
	}
	return 2*n <= len(words)
}

// textsIn are the names and the texts in a value that are long enough to be found.
func textsIn(raw json.RawMessage) []string {
	var all []string
	m := members(raw)
	for _, name := range sortedKeys(m) {
		if len(name) > 3 && name != "action" && name != "content" {
			all = append(all, name)
		}
		var text string
		if json.Unmarshal(m[name], &text) == nil && len(text) > 3 && text != "accept" {
			all = append(all, text)
		}
		all = append(all, textsIn(m[name])...)
	}
	return all
}

// underOtherKeys returns answers under keys that no question has.
func underOtherKeys(answers json.RawMessage) json.RawMessage {
	changed := map[string]json.RawMessage{}
	for key, answer := range members(answers) {
		changed["sealab-"+key] = answer
	}
	return object(changed)
}

func (t *T) declined(name string, a Answer) {
	t.refute(Finding{Case: name, Severity: Critical, Issue: "the answer " + name + " is carried out as an acceptance",
		Evidence: fmt.Sprintf("accepted: %v; %s: %v", t.o.good, name, a), Want: "another result", Got: "the same result"})
}

// answeredBy presents a fresh token with every answer under another action, "" for none.
func (t *T) answeredBy(action string, content bool) (Answer, string) {
	f := t.o.flow
	changed := map[string]json.RawMessage{}
	for key, answer := range members(f.Last) {
		form := members(answer)
		if form["action"] == nil {
			return Answer{}, "the round asks for more than forms"
		}
		if form = with(form, "action", quote(action)); action == "" {
			delete(form, "action")
		}
		if !content {
			delete(form, "content")
		}
		changed[key] = object(form)
	}
	f.Last = object(changed)
	token, reason := t.mint()
	if reason != "" {
		return Answer{}, reason
	}
	a := t.r.client.present(t.ctx, f, quote(token), t.o.user)
	t.seen(variant{name: action}, a)
	return a, ""
}

// specific reports whether a good completion names one of the arguments.
func (t *T) specific() bool {
	for _, raw := range members(t.o.flow.Arguments) {
		var text string
		if json.Unmarshal(raw, &text) == nil && len(text) > 3 && strings.Contains(t.o.good.Text, text) {
			return true
		}
	}
	return false
}

func wrongForm(t *T) {
	if t.only == "" || strings.HasPrefix(t.only, "arguments ") {
		t.overridden()
		t.onOthers(func(*oracle) { t.overridden() })
		t.overriddenFully()
		t.onOthers(func(*oracle) { t.overriddenFully() })
	}
	t.falseTexts()
	t.misfitting()
	if len(t.findings) > 0 {
		return
	}
	if t.otherKinds(); len(t.findings) > 0 {
		return
	}
	f := t.o.flow
	for key, answer := range members(f.Last) {
		form := members(answer)
		content := members(form["content"])
		for name, value := range content {
			wrong := json.RawMessage(`"sealab"`)
			if len(value) > 0 && value[0] == '"' {
				wrong = json.RawMessage(`[{"sealab":1}]`)
			}
			f.Last = object(with(members(t.o.flow.Last), key, object(with(form, "content", object(with(content, name, wrong))))))
			token, reason := t.mint()
			if reason != "" {
				t.skip("%s", reason)
				return
			}
			a := t.r.client.present(t.ctx, f, quote(token), t.o.user)
			t.seen(variant{name: name}, a)
			if t.o.verdict(a) == accepted {
				t.refute(Finding{Case: name, Severity: Suggestion, Issue: "an answer of the wrong type is passed on", Evidence: fmt.Sprintf("answers %s -> %v", f.Last, a), Want: "asked again, or -32602", Got: "accepted"})
				return
			}
		}
	}
}
