package answers

import (
	"encoding/json"
	"fmt"
	"slices"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// answerFalseTexts answers with the text false in place of true, and without a required boolean or a
// consent. It records a finding if that goes on as true does, and false does not.
func answerFalseTexts(t *review.T) {
	for _, o := range t.Oracles {
		for _, f := range o.Flow.Stages() {
			for _, key := range jsondoc.SortedKeys(jsondoc.Members(f.Last)) {
				for _, name := range jsondoc.SortedKeys(f.Content(len(f.Rounds), key)) {
					answerFalseText(t, o, f, key, name)
				}
			}
		}
	}
}

// answerFalseText tests one member of the answers of a flow.
func answerFalseText(t *review.T, o *review.Oracle, f client.Flow, key, name string) {
	content := f.Content(len(f.Rounds), key)
	text, none := fmt.Sprintf("the text false for %s of %s", name, f.Target), fmt.Sprintf("no %s of %s", name, f.Target)
	if string(content[name]) != "true" || len(t.Findings) > 0 || !t.Selected(text, none) {
		return
	}
	answered := func(content map[string]json.RawMessage) client.Answer {
		return t.Fresh(f.WithContent(len(f.Rounds), key, content), o.User)
	}
	valued := func(value string) client.Answer { return answered(jsondoc.With(content, name, json.RawMessage(value))) }
	yes, no := valued("true"), valued("false")
	as := func(a client.Answer) bool {
		return a.Kind == yes.Kind && a.Class() == yes.Class() && (a.Kind != client.Completed || o.Alike(a))
	}
	tells := yes.Succeeded() && as(yes) && no.Conclusive() && !as(no)
	found := func(label, issue string, a client.Answer) {
		t.Trials++
		if tells && as(a) {
			t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: issue,
				Evidence: fmt.Sprintf("true -> %v, %s -> %v, false -> %v", yes, label, a, no), Want: "asked again, or -32602", Got: "accepted", Flow: &o.Flow})
		}
	}
	found(text, `the text "false" in the place of a boolean counts as true`, valued(`"false"`))
	s := jsondoc.ParseSchema(t.Client.Newest[key].Form())
	absent := func() client.Answer { return answered(jsondoc.Without(content, name)) }
	switch {
	case review.IsGivenConsent(name, jsondoc.ParseSchema(s.Properties[name])) && as(absent()):
		found(none, "a consent that is absent has the default true of its form, and counts as given", absent())
	case slices.Contains(s.Required, name) && jsondoc.ParseSchema(s.Properties[name]).Default == nil:
		found(none, "a boolean that the form requires is absent and counts as true", absent())
	}
}
