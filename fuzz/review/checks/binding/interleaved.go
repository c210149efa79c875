package binding

import (
	"encoding/json"
	"fmt"
	"slices"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// interleaveCalls begins a call, begins another one of the same target, and then completes the
// first. The other one has other arguments, or another answer in an earlier round. It records a
// finding if the first gets the result of the other. The server then keeps one state for both.
func interleaveCalls(t *review.T) {
	for _, o := range t.Oracles {
		label := "two calls of " + o.Flow.Target
		if !o.Completes() || len(t.Findings) > 0 || !t.Selected(label) {
			continue
		}
		for _, pair := range callPairs(t, o) {
			evidence := interleavedEvidence(t, o, pair[0], pair[1])
			if evidence != "" && interleavedEvidence(t, o, pair[0], pair[1]) != "" { // texts may be equal by chance
				t.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: "a call is ended with the arguments or answers of another one that began later",
					Evidence: evidence, Want: "the result of the call", Got: "that of the other", Flow: &o.Flow})
				break
			}
		}
	}
}

// callPairs returns pairs of flows that differ in an argument or in an answer of an earlier round.
func callPairs(t *review.T, o *review.Oracle) [][2]client.Flow {
	f := o.Flow
	var all [][2]client.Flow
	add := func(one, two json.RawMessage) {
		if one != nil && two != nil {
			all = append(all, [2]client.Flow{f.With(one), f.With(two)})
		}
	}
	input := f.Offer.InputSchema()
	add(jsondoc.WithText(f.Arguments, input, t.Word()), jsondoc.WithText(f.Arguments, input, t.Word()))
	add(f.Arguments, f.Other)
	for _, stage := range f.Stages()[1:] {
		_, asked, err := t.Client.Mint(t.Context, stage, o.User)
		for _, key := range jsondoc.SortedKeys(jsondoc.Members(stage.Last)) {
			round := len(stage.Rounds)
			content, _ := jsondoc.OtherContent(jsondoc.Object(f.Content(round, key)), asked.Questions[key].Form())
			if err == nil && content != nil {
				all = append(all, [2]client.Flow{f, f.WithContent(round, key, jsondoc.Members(content))})
			}
		}
	}
	return all
}

// interleavedEvidence returns evidence that a call completes with the result of a later one, twice,
// or "". The words of each result must be those of its own call while the other is not open.
func interleavedEvidence(t *review.T, o *review.Oracle, first, later client.Flow) string {
	own, others := resultWords(t, o, first), resultWords(t, o, later)
	firstWords, laterWords := wordsOnlyIn(own, others), wordsOnlyIn(others, own)
	if len(firstWords) == 0 || len(laterWords) == 0 {
		return ""
	}
	var a client.Answer
	for range 2 {
		token, _, err := t.Client.Mint(t.Context, first, o.User)
		if err != nil {
			return ""
		}
		if _, _, err := t.Client.Mint(t.Context, later, o.User); err != nil {
			return ""
		}
		a = t.Tried(t.Client.Present(t.Context, first, jsondoc.Quote(token), o.User))
		got := client.Words(a.Text)
		has := func(word string) bool { return slices.Contains(got, word) }
		if a.Kind != client.Completed || slices.ContainsFunc(firstWords, has) || slices.ContainsFunc(laterWords, func(w string) bool { return !has(w) }) {
			return ""
		}
	}
	return fmt.Sprintf("began with %s %s, then another call with %s %s; the first ended: %v", first.Arguments, first.Rounds, later.Arguments, later.Rounds, a)
}

// resultWords returns the words of two results of a flow.
func resultWords(t *review.T, o *review.Oracle, f client.Flow) [2][]string {
	var all [2][]string
	for i := range all {
		if a := t.Fresh(f, o.User); a.Kind == client.Completed {
			all[i] = client.Words(a.Text)
		}
	}
	return all
}

// wordsOnlyIn returns the words that are in both results of one flow and in no result of another.
func wordsOnlyIn(own, others [2][]string) []string {
	return slices.DeleteFunc(slices.Clone(own[0]), func(w string) bool {
		return !slices.Contains(own[1], w) || slices.Contains(others[0], w) || slices.Contains(others[1], w)
	})
}
