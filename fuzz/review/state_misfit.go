package review

import (
	"encoding/json"
	"fmt"
	"strings"
)

// misfitting answers one member of each form with values that the form excludes: beside its
// list, beyond its bounds or its length. It refutes if the tool runs to its end and its
// result has the value in the place of an allowed one.
func (t *T) misfitting() {
	for _, o := range t.r.oracles {
		if o.good.Kind != completed || o.mask == nil {
			continue
		}
		for _, f := range o.flow.stages() {
			for _, key := range sortedKeys(members(f.Last)) {
				t.misfitsIn(o, f, key)
			}
		}
	}
}

// misfitsIn tries the members of one answer of a flow.
func (t *T) misfitsIn(o *oracle, f Flow, key string) {
	content := members(members(members(f.Last)[key])["content"])
	for _, name := range sortedKeys(content) {
		label := fmt.Sprintf("a value of %s in round %d of %s that its form excludes", name, len(f.Rounds)+1, f.Target)
		if len(t.findings) > 0 || t.only != "" && t.only != label || string(content[name]) == "true" || string(content[name]) == "false" {
			continue
		}
		for _, v := range excluded(t.fieldOf(f, o, key, name), content[name]) {
			wrong := withAnswer(o.flow, len(f.Rounds), key, name, v)
			a := t.fresh(wrong, o)
			if t.seen(variant{name: label}, a); !o.alikeBut(a, content[name], v) || !o.alikeBut(t.fresh(wrong, o), content[name], v) {
				continue
			}
			t.refute(Finding{Case: label, Severity: Warning, Issue: fmt.Sprintf("a value of %s that its form excludes is carried out", short(name, 40)),
				Evidence: fmt.Sprintf("%s -> %v; %s -> %v", content[name], o.good, short(string(v), 80), a), Want: "asked again, or -32602", Got: "accepted", Flow: &o.flow})
			return
		}
	}
}

// fieldOf returns the schema of one member of the form that a flow ends with, nil if its
// question has other keys.
func (t *T) fieldOf(f Flow, o *oracle, key, name string) json.RawMessage {
	_, a, err := t.r.client.mint(t.ctx, f, o.user)
	if err != nil {
		return nil
	}
	return parseSchema(inline(a.Questions[key].Params.Schema)).Properties[name]
}

// withAnswer returns a flow with one member of the answer of a round replaced.
func withAnswer(f Flow, round int, key, name string, v json.RawMessage) Flow {
	change := func(answers json.RawMessage) json.RawMessage {
		all := members(answers)
		form := members(all[key])
		content := object(with(members(form["content"]), name, v))
		return object(with(all, key, object(with(form, "content", content))))
	}
	if round == len(f.Rounds) {
		f.Last = change(f.Last)
		return f
	}
	f.Rounds = append([]json.RawMessage(nil), f.Rounds...)
	f.Rounds[round] = change(f.Rounds[round])
	return f
}

// farOut is the distance of numbers from the bounds that they are outside of.
const farOut = 7919

// excluded returns values that a schema does not allow and that a text shows if they are
// carried out.
func excluded(raw, given json.RawMessage) []json.RawMessage {
	var all []json.RawMessage
	add := func(v any) {
		if text, err := json.Marshal(v); err == nil && misfit(raw, v) != "" {
			all = append(all, text)
		}
	}
	s := parseSchema(raw)
	var text string
	var number float64
	switch {
	case raw == nil:
	case s.Format != "": // an annotation for most validators
	case json.Unmarshal(given, &text) == nil:
		add(text + "-sealab")
		if s.MaxLength != nil && *s.MaxLength < longArgument {
			add(strings.Repeat("w", *s.MaxLength+1))
		}
	case json.Unmarshal(given, &number) == nil:
		for _, bound := range []*float64{s.Maximum, s.Below} {
			if bound != nil {
				add(*bound + farOut)
			}
		}
		for _, bound := range []*float64{s.Minimum, s.Above} {
			if bound != nil {
				add(*bound - farOut)
			}
		}
		add(number + 0.5)
	}
	return all
}

// alikeBut reports whether a completion reads as that of a good token but for a value in
// the place of another one.
func (o *oracle) alikeBut(a Answer, given, v json.RawMessage) bool {
	old, now := strings.Trim(string(given), `"`), strings.Trim(string(v), `"`)
	if a.Kind != completed || !strings.Contains(a.Text, now) || strings.Contains(o.good.Text, now) {
		return false
	}
	a.Text = strings.ReplaceAll(a.Text, now, old)
	return o.alike(a)
}

// otherKinds answers questions for a draft and for folders with what no client gives: with a
// form, and with folders that are no list. It refutes if the round goes on.
func (t *T) otherKinds() {
	for _, o := range t.r.oracles {
		for _, key := range sortedKeys(members(o.flow.Last)) {
			f, label := o.flow, fmt.Sprintf("an answer of another kind for %s of %s", key, o.flow.Target)
			switch given := members(members(f.Last)[key]); {
			case t.only != "" && t.only != label:
				continue
			case given["role"] != nil:
				f.Last = object(with(members(f.Last), key, json.RawMessage(`{"action":"accept","content":{"text":"sealab"}}`)))
			case given["roots"] != nil:
				f.Last = object(with(members(f.Last), key, json.RawMessage(`{"roots":"sealab"}`)))
			default:
				continue
			}
			if a := t.fresh(f, o); a.Kind == o.good.Kind && o.verdict(a) == accepted {
				t.refute(Finding{Case: label, Severity: Suggestion, Issue: "an answer of another kind than the question is passed on", Evidence: fmt.Sprintf("answers %s -> %v", f.Last, a), Want: "asked again, or -32602", Got: "accepted", Flow: &o.flow})
				return
			}
		}
	}
}
