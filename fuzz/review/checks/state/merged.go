package state

import (
	"encoding/json"
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// mergedFlows begins a call, begins another one of the same target, and then completes the first.
// It records a finding if the result of the first shows the argument of the second, twice. The
// server then keeps one state for both.
func mergedFlows(t *review.T) {
	for _, o := range t.Oracles {
		label := "two calls of " + o.Flow.Target
		if o.Flow.Last == nil || o.Good.Kind != client.Completed || len(t.Findings) > 0 || !t.Selected(label) {
			continue
		}
		evidence := ""
		for range 2 {
			if evidence = merges(t, o); evidence == "" {
				break
			}
		}
		if evidence != "" {
			t.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: "a call is ended with the arguments of another one that began later",
				Evidence: evidence, Want: "the arguments of the call", Got: "those of the other", Flow: &o.Flow})
		}
	}
}

// merges returns evidence that a call completes with the argument of a later one, or "".
func merges(t *review.T, o *review.Oracle) string {
	input := o.Flow.Offer.InputSchema()
	words := [2]string{t.Word(), t.Word()}
	one, two := jsondoc.WithText(o.Flow.Arguments, input, words[0]), jsondoc.WithText(o.Flow.Arguments, input, words[1])
	if one == nil {
		return ""
	}
	token, _, err := t.Client.Mint(t.Context, o.Flow.With(one), o.User)
	if err != nil {
		return ""
	}
	if _, _, err := t.Client.Mint(t.Context, o.Flow.With(two), o.User); err != nil {
		return ""
	}
	a := t.Tried(t.Client.Present(t.Context, o.Flow.With(one), jsondoc.Quote(token), o.User))
	if a.Kind != client.Completed || strings.Contains(a.Text, words[0]) || !strings.Contains(a.Text, words[1]) {
		return ""
	}
	return fmt.Sprintf("began with %s, then another call with %s; the first ended: %v", json.RawMessage(one), json.RawMessage(two), a)
}

// polluted are the places in which prototypeAnswers adds prototype members.
var polluted = []struct {
	name string
	overriding
}{{"an answer", overridings[1]}, {"content", overridings[0]}, {"the answers", overridings[2]}}

// prototypeAnswers completes calls whose answers have members that a careless merge copies into the
// prototype of all JavaScript objects.
func prototypeAnswers(t *review.T) {
	f := t.Oracle.Flow
	for _, place := range polluted {
		token, reason := t.Mint()
		if t.SkipFor(reason) {
			return
		}
		f.Last = jsondoc.Object(place.add(jsondoc.Members(t.Oracle.Flow.Last), review.Polluting))
		var a client.Answer
		if after, is := t.Pollutes(func() { a = t.Tried(t.PresentIn(f, jsondoc.Quote(token))) }); is {
			t.Refute(review.Finding{Case: place.name, Severity: review.Critical, Issue: "members of " + place.name + " named __proto__ and constructor change how requests of everybody are read",
				Evidence: fmt.Sprintf("answers %s -> %v; then %s, refused before", f.Last, a, review.ExchangeText(after)), Want: "refused", Got: "accepted", Flow: &f})
			return
		}
	}
}
