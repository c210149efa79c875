package isolation

import (
	"encoding/json"
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// callOrders is the number of times that both users make a call, in the order of [review.Turn]. Texts may depend
// on whether an argument is even, or on any other property that comes back after a few values.
const callOrders = 6

// followsOrder reports whether the texts of all calls in one order of the users are the same, and differ
// from those in the other order.
func followsOrder(texts []string) bool {
	if len(texts) < callOrders || texts[0] == texts[1] {
		return false
	}
	for i, text := range texts {
		if text != texts[review.Turn(i)] {
			return false
		}
	}
	return true
}

// mixesResults walks each flow to its end as both users in either order, with new arguments each
// time. It records a finding if both get the same result and the result depends on the order.
func mixesResults(t *review.T) bool {
	for _, o := range t.Oracles {
		f, label := o.Flow, "results of "+o.Flow.String()
		if !o.Completes() || !t.Selected(label) {
			continue
		}
		var texts []string
		for i, arguments := range jsondoc.Series(f.Offer.InputSchema(), f.Arguments, callOrders) {
			users := review.UserPairs[review.Turn(i)]
			one, two := flowResult(t, f.With(arguments), users[0]), flowResult(t, f.With(arguments), users[1])
			if one == "" || one != two {
				break
			}
			texts = append(texts, withoutValues(one, f.With(arguments)))
		}
		if followsOrder(texts) {
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

// mixesReadings calls tools that only read as both users, in either order, with new arguments each time. It
// records a finding if both get the same answer and the answer depends on the order. Each user calls twice,
// because some servers choose their words at random.
func mixesReadings(t *review.T) bool {
	readers := t.Lookups()
	for _, o := range readers[:min(len(readers), review.MaxTestedCalls)] {
		f := t.FlowOf(o)
		if label := "readings of " + f.String(); t.Selected(label) && dependsOnFirstReader(t, f, label) {
			return true
		}
	}
	return false
}

// dependsOnFirstReader reports whether the answers to a call belong to the user who called first.
func dependsOnFirstReader(t *review.T, f client.Flow, label string) bool {
	var texts, bare []string
	var a client.Answer
	for i, arguments := range newReadings(t, f) {
		f, text, pair := f.With(arguments), "", review.UserPairs[review.Turn(i)]
		for j, as := range []client.User{pair[0], pair[0], pair[1], pair[1]} {
			if a = t.Tried(t.Call(f.Call(as))); j == 0 {
				text = a.Text
			}
			if a.Kind != client.Completed || a.Text == "" || a.Text != text {
				return false
			}
		}
		texts, bare = append(texts, text), append(bare, withoutValues(text, f))
	}
	if !followsOrder(texts) && !followsOrder(bare) {
		return false
	}
	t.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: client.Short(f.Target, 60) + " gives a user the answer to the other one, if that one called first with the same arguments", Flow: &f,
		Evidence: fmt.Sprintf("both users: %s if the first one calls first, %s if the second one does; at last: %s", client.Short(texts[0], 120), client.Short(texts[1], 120), review.ExchangeText(a)),
		Want:     "the answer to the user who calls", Got: "that to the other one"})
	return true
}

// newReadings returns arguments of a call that earlier calls, also those of an earlier review, are not likely
// to have had, or none.
func newReadings(t *review.T, f client.Flow) []json.RawMessage {
	for _, more := range []int{int(t.Client.Clock.Now().Unix() % 13), 0} {
		if all := jsondoc.Series(f.Offer.InputSchema(), f.Arguments, more+callOrders); all != nil {
			return all[more:]
		}
	}
	return nil
}
