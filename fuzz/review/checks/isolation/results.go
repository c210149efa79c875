package isolation

import (
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// mixesResults walks each flow to its end as both users in either order, with new arguments each
// time. It records a finding if both get the same result and the result depends on the order.
func mixesResults(t *review.T) bool {
	for _, o := range t.Oracles {
		f, label := o.Flow, "results of "+o.Flow.String()
		if !o.Completes() || !t.Selected(label) {
			continue
		}
		const orders = 4
		var texts []string
		for i, arguments := range jsondoc.Series(f.Offer.InputSchema(), f.Arguments, orders) {
			users := userPairs[i%2]
			one, two := flowResult(t, f.With(arguments), users[0]), flowResult(t, f.With(arguments), users[1])
			if one == "" || one != two {
				break
			}
			texts = append(texts, withoutValues(one, f.With(arguments)))
		}
		if len(texts) == orders && texts[0] == texts[2] && texts[1] == texts[3] && texts[0] != texts[1] {
			t.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: "a user gets the result of the other one, if that one was first", Flow: &f,
				Evidence: fmt.Sprintf("both users: %s if the first one calls first, %s if the second one does", client.Short(texts[0], 120), client.Short(texts[1], 120)),
				Want:     "the result of the user who calls", Got: "that of the other one"})
			return true
		}
	}
	return false
}

// flowResult returns the text of the result of a flow, or "" if the flow does not complete.
func flowResult(t *review.T, f client.Flow, as client.User) string {
	a := t.Fresh(f, as)
	if a.Kind != "" {
		t.Trials++
	}
	if a.Kind != client.Completed {
		return ""
	}
	return a.Text
}

// withoutValues removes the values of the arguments of a flow from a text.
func withoutValues(text string, f client.Flow) string {
	for _, raw := range jsondoc.Members(f.Arguments) {
		text = strings.ReplaceAll(text, strings.Trim(string(raw), `"`), "")
	}
	return text
}
