package review

import (
	"encoding/json"
	"fmt"
	"slices"
)

// falseTexts answers with the text false in the place of true, and without a member that the
// form requires. It refutes if that goes on as true does, and false itself does not.
func (t *T) falseTexts() {
	for _, o := range t.r.oracles {
		for _, f := range o.flow.stages() {
			for _, key := range sortedKeys(members(f.Last)) {
				for _, name := range sortedKeys(members(members(members(f.Last)[key])["content"])) {
					t.falseText(o, f, key, name)
				}
			}
		}
	}
}

// falseText tries one member of the answers of a flow.
func (t *T) falseText(o *oracle, f Flow, key, name string) {
	form := members(members(f.Last)[key])
	content := members(form["content"])
	text, none := fmt.Sprintf("the text false for %s of %s", name, f.Target), fmt.Sprintf("no %s of %s", name, f.Target)
	if string(content[name]) != "true" || len(t.findings) > 0 || t.only != "" && t.only != text && t.only != none {
		return
	}
	answered := func(content map[string]json.RawMessage) Answer {
		next := f
		next.Last = object(with(members(f.Last), key, object(with(form, "content", object(content)))))
		return t.fresh(next, o)
	}
	valued := func(value string) Answer { return answered(with(content, name, json.RawMessage(value))) }
	yes, no := valued("true"), valued("false")
	as := func(a Answer) bool {
		return a.Kind == yes.Kind && a.going() == yes.going() && (a.Kind != completed || o.alike(a))
	}
	tells := (yes.Kind == completed || yes.Kind == asked) && as(yes) && no.conclusive() && !as(no)
	found := func(label, issue string, a Answer) {
		t.seen(variant{name: label}, a)
		if tells && as(a) {
			t.refute(Finding{Case: label, Severity: Warning, Issue: issue, Evidence: fmt.Sprintf("true -> %v, %s -> %v, false -> %v", yes, label, a, no), Want: "asked again, or -32602", Got: "accepted", Flow: &o.flow})
		}
	}
	found(text, `the text "false" in the place of a boolean counts as true`, valued(`"false"`))
	if s := parseSchema(inline(t.r.client.newest[key].Params.Schema)); slices.Contains(s.Required, name) && parseSchema(s.Properties[name]).Default == nil {
		found(none, "a boolean that the form requires is absent and counts as true", answered(without(content, name)))
	}
}
