package answers

import (
	"fmt"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// changeEarlierAnswers adds another answer to the question of an earlier round to the answers of
// the last one. It records a finding if the result is that of a flow with this answer in its own
// round, twice.
func changeEarlierAnswers(t *review.T) {
	for _, o := range t.Oracles {
		if !o.Completes() || o.Mask == nil || len(t.Findings) > 0 {
			continue
		}
		for _, f := range o.Flow.Stages()[1:] {
			for _, key := range jsondoc.SortedKeys(jsondoc.Members(f.Last)) {
				if jsondoc.Members(o.Flow.Last)[key] == nil && changeEarlierAnswer(t, o, f, key) {
					return
				}
			}
		}
	}
}

// changeEarlierAnswer tests one question of the round that a flow ends with.
func changeEarlierAnswer(t *review.T, o *review.Oracle, f client.Flow, key string) bool {
	label := fmt.Sprintf("another answer for %s of %s in the last round", key, f.Target)
	_, asked, err := t.Client.Mint(t.Context, f, o.User)
	answer := jsondoc.Members(jsondoc.At(f.Last, key))
	content, mark := jsondoc.OtherContent(answer["content"], asked.Questions[key].Form())
	if err != nil || content == nil || !t.Selected(label) {
		return false
	}
	other := jsondoc.Object(jsondoc.With(answer, "content", content))
	round := len(f.Rounds)
	honest, late := o.Flow, o.Flow
	honest.Rounds = append(append(honest.Rounds[:0:0], honest.Rounds[:round]...), jsondoc.WithMember(f.Last, key, other))
	honest.Rounds = append(honest.Rounds, o.Flow.Rounds[round+1:]...)
	late.Last = jsondoc.WithMember(late.Last, key, other)
	shows := func(a client.Answer) bool { // Alike ignores numbers
		return a.Kind == client.Completed && (!o.Alike(a) || client.ShowsValue(a.Text, mark) && !client.ShowsValue(o.Good.Text, mark))
	}
	want := t.Fresh(honest, o.User)
	if !shows(want) {
		return false // the texts do not show the answer
	}
	var a client.Answer
	for range 2 {
		a = t.Tried(t.Fresh(late, o.User))
		if !shows(a) || !a.SameWords(want) {
			return false
		}
		if shows(t.Fresh(o.Flow, o.User)) { // the texts have changed by themselves
			return false
		}
	}
	t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "an answer of an earlier round is replaced by one that the last round did not ask for",
		Evidence: fmt.Sprintf("answers %s -> %v; without the one for %s: %v", late.Last, a, client.Short(key, 40), o.Good), Want: "ignored", Got: "carried out", Flow: &o.Flow})
	return true
}
