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

// useUpElsewhere presents the states of each flow with other arguments first.
func useUpElsewhere(t *review.T) {
	for _, o := range t.Oracles {
		if o.Flow.Other != nil && len(t.Findings) == 0 {
			useUp(t, "a state of "+o.Flow.Target+" after other arguments", review.Move{Source: o.Flow, Target: o.Flow.With(o.Flow.Other), SourceUser: t.Oracle.User, TargetUser: t.Oracle.User})
		}
	}
}

// useUp presents the states of a flow in another flow, which must refuse them, and then in their own. It
// records a finding if their own flow refuses them then, twice, but not after garbage in the other flow.
func useUp(t *review.T, name string, m review.Move) {
	if len(t.Findings) > 0 || !t.Selected(name) {
		return
	}
	o, reason := t.NewOracle(t.Context, m.Source, m.SourceUser)
	if reason != "" || !o.Bad.Refused() {
		return
	}
	evidence := ""
	for range 2 {
		foreign, lost := afterAttempt(t, o, m, true)
		if !foreign.Refused() || !lost.Refused() || lost.Class() != o.Bad.Class() {
			return
		}
		if garbage, kept := afterAttempt(t, o, m, false); !garbage.Refused() || o.Verdict(kept) != review.Accepted {
			return
		}
		evidence = fmt.Sprintf("%s: a state of %s -> %v; then in its own place -> %v; after garbage instead: accepted", name, m.Source, foreign, lost)
	}
	// Who presents the state had to get hold of it, and a server may give it up on purpose.
	t.Refute(review.Finding{Case: name, Severity: review.Suggestion, Issue: "a state that is refused elsewhere is used up: its owner cannot go on",
		Evidence: evidence, Want: "accepted in its own place", Got: "refused", Flow: &m.Source})
}

// afterAttempt presents a fresh state, or garbage, at the target of a move, and then the state in its own
// flow. It returns both answers.
func afterAttempt(t *review.T, o *review.Oracle, m review.Move, foreign bool) (attempt, own client.Answer) {
	token, _, err := t.Client.Mint(t.Context, m.Source, m.SourceUser)
	if err != nil {
		return attempt, own
	}
	presented := review.GarbageState
	if foreign {
		presented = token
	}
	attempt = t.Tried(t.Client.Present(t.Context, m.Target, jsondoc.Quote(presented), m.TargetUser))
	return attempt, t.Client.Present(t.Context, o.Flow, jsondoc.Quote(token), o.User)
}
