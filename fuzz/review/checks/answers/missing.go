package answers

import (
	"encoding/json"
	"fmt"
	"slices"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// leaveOutAnswers leaves out answers in rounds that ask several questions. It records a finding if the
// flow goes on as with all answers, although it does not if the question is declined.
func leaveOutAnswers(t *review.T) {
	for _, o := range t.Oracles {
		if !t.Options.Effects || o.Flow.Last == nil || o.Mask == nil {
			continue
		}
		for _, f := range o.Flow.Stages() {
			if len(jsondoc.Members(f.Last)) > 1 && leavesOutAnswer(t, o, f) {
				return
			}
		}
	}
}

// leavesOutAnswer tests the questions of one round. It reports whether it records a finding.
func leavesOutAnswer(t *review.T, o *review.Oracle, f client.Flow) bool {
	_, asked, err := t.Client.Mint(t.Context, f, o.User)
	if err != nil {
		return false
	}
	for _, key := range jsondoc.SortedKeys(jsondoc.Members(f.Last)) {
		label := fmt.Sprintf("without %s in round %d of %s", client.Short(key, 40), len(f.Rounds)+1, f.Target)
		if !isDemanded(asked.Questions[key]) || !t.Selected(label) {
			continue
		}
		evidence := ""
		for range 2 {
			if evidence = countsMissing(t, o, f, asked.Questions, key); evidence == "" {
				break
			}
		}
		if evidence != "" {
			t.Refute(review.Finding{Case: label, Severity: missingSeverity(asked.Questions[key]), Issue: "a question without an answer counts as accepted: " + client.Short(key, 40),
				Evidence: evidence, Want: "asked", Got: "carried out", Flow: &o.Flow})
			return true
		}
	}
	return false
}

// isDemanded reports whether a form has to be answered: it asks for consent alone, or has required members
// without a default.
func isDemanded(q client.Question) bool {
	form := jsondoc.ParseSchema(q.Form())
	for _, s := range jsondoc.Fields(q.Form()) {
		if s.Default != nil {
			return false
		}
	}
	return q.Method == "elicitation/create" && q.Params.Mode != "url" && (len(form.Properties) == 0 || len(form.Required) > 0)
}

// missingSeverity rates a missing answer that counts. That to a question for consent is critical.
func missingSeverity(q client.Question) review.Severity {
	for _, s := range jsondoc.Fields(q.Form()) {
		if s.Type != "boolean" {
			return review.Warning
		}
	}
	return review.Critical
}

// countsMissing returns the evidence that a missing answer counts as accepted, or "". The flow must go on
// with all answers and without this one, and must not go on if the question is declined. If other questions
// have the same form, one of them may be enough, so that each must do alone, and a decline of each must count.
func countsMissing(t *review.T, o *review.Oracle, f client.Flow, questions map[string]client.Question, key string) string {
	answers := jsondoc.Members(f.Last)
	alike := keysOfForm(questions, answers, key)
	good := t.Fresh(f, o.User)
	for _, declined := range alike {
		answer := jsondoc.Object(map[string]json.RawMessage{"action": jsondoc.Quote("decline")})
		a := t.Tried(t.Fresh(f.WithLast(jsondoc.WithMember(f.Last, declined, answer)), o.User))
		if !a.Conclusive() || goesAlike(o, good, a) {
			return ""
		}
	}
	evidence := ""
	for _, kept := range alike {
		left := answers
		for _, other := range alike {
			if other != kept || len(alike) == 1 {
				left = jsondoc.Without(left, other)
			}
		}
		if len(left) == 0 {
			return ""
		}
		a := t.Tried(t.Fresh(f.WithLast(jsondoc.Object(left)), o.User))
		if !goesAlike(o, good, a) || len(a.Questions) > 0 && asksAnyOf(a, alike) {
			return ""
		}
		evidence = fmt.Sprintf("answers %s -> %v; all answers -> %v; another result if %s is declined", jsondoc.Object(left), a, good, client.Short(key, 40))
	}
	if !goesAlike(o, good, t.Fresh(f, o.User)) {
		return ""
	}
	return evidence
}

// keysOfForm returns the keys of the answered questions whose forms equal that of a question.
func keysOfForm(questions map[string]client.Question, answers map[string]json.RawMessage, key string) []string {
	return slices.DeleteFunc(jsondoc.SortedKeys(answers), func(other string) bool {
		return other != key && !jsondoc.Same(questions[other].Form(), questions[key].Form())
	})
}

// goesAlike reports whether an answer goes on as a good one: with a result alike, or with the next question.
func goesAlike(o *review.Oracle, good, a client.Answer) bool {
	switch {
	case a.Kind != good.Kind:
		return false
	case a.Kind == client.Completed:
		return o.Alike(a) || a.SameWords(good)
	}
	return a.Kind == client.Asked && a.Class() == good.Class()
}

// asksAnyOf reports whether an answer asks one of some questions.
func asksAnyOf(a client.Answer, keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { _, asked := a.Questions[key]; return asked })
}

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
