package state

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

func checkDeclines(t *review.T) {
	if presentEveryAction(t); len(t.Findings) > 0 {
		return
	}
	presentDeclines(t)
	forOtherFlows(t, func(*review.Oracle) { presentDeclines(t) })
	if len(t.Findings) == 0 {
		presentStaleAnswers(t)
	}
	confirmWithFalse(t)
}

// checkFirstDeclines records the declines that were carried out before the first acceptance.
func checkFirstDeclines(t *review.T) {
	if len(t.Asking) == 0 {
		t.Skip("%s", t.NoFlow())
		return
	}
	t.Trials++
	for _, d := range t.Declined {
		label := cmp.Or(d.Action, "without an action")
		t.Refute(review.Finding{Case: d.Flow.Target + ": " + label, Severity: review.Critical, Flow: &d.Flow,
			Issue:    "an answer " + label + " with the content of an acceptance is carried out: the call no longer asks",
			Evidence: fmt.Sprintf("declined without content: %v, and asked again; %s with content: %v; the call again: %v", d.Plain, label, d.Got, d.After),
			Want:     "a question, as before", Got: "no question"})
	}
}

// presentDeclines presents answers other than an acceptance in one flow.
func presentDeclines(t *review.T) {
	if len(jsondoc.Members(t.Oracle.Flow.Last)) == 0 || t.Oracle.Good.Kind != client.Completed || t.Oracle.Mask == nil {
		t.Skip("the round takes no answers, or its results cannot be compared")
		return
	}
	plain, reason := presentAction(t, "decline", false)
	if t.SkipFor(reason) {
		return
	}
	if plain.Kind == client.Completed && t.Oracle.Alike(plain) {
		if !showsArgument(t) {
			t.Skip("a result that says the same after an acceptance and after a refusal is inconclusive")
			return
		}
		refuteDecline(t, "decline", plain)
		return
	}
	if presentUnderOtherKeys(t) {
		return
	}
	for _, action := range []string{"decline", "cancel", "sealab", ""} {
		a, reason := presentAction(t, action, true)
		if t.SkipFor(reason) {
			return
		}
		if a.Kind == client.Completed && t.Oracle.Alike(a) {
			refuteDecline(t, cmp.Or(action, "without an action")+" with the content of an acceptance", a)
			return
		}
	}
}

// presentUnderOtherKeys presents the acceptances as answers to questions that the server did not
// ask.
func presentUnderOtherKeys(t *review.T) bool {
	f := t.Oracle.Flow
	f.Last = withOtherKeys(f.Last)
	token, reason := t.Mint()
	if reason != "" {
		return false
	}
	a := t.Tried(t.PresentIn(f, jsondoc.Quote(token)))
	if a.Kind != client.Completed || !t.Oracle.Alike(a) {
		return false
	}
	refuteDecline(t, "under another key", a)
	return true
}

// presentStaleAnswers presents the answers of an earlier round in the last one. It records a
// finding if they complete it, although the server repeats the question if there are no answers.
func presentStaleAnswers(t *review.T) {
	for _, o := range t.Oracles {
		f := o.Flow
		if len(f.Rounds) == 0 || f.Last == nil || o.Good.Kind != client.Completed || sameKeys(f.Last, f.Rounds[len(f.Rounds)-1]) {
			continue
		}
		none, stale := f, f
		none.Last, stale.Last = json.RawMessage("{}"), f.Rounds[len(f.Rounds)-1]
		a := t.Tried(t.Fresh(stale, o))
		if a.Kind != client.Completed || !o.Alike(a) && !resemblesGood(o, a) || t.Fresh(none, o).Kind != client.Asked {
			continue
		}
		t.Refute(review.Finding{Case: "the answers of an earlier round", Severity: review.Critical,
			Issue:    "the answers of an earlier round are accepted as those of the last",
			Evidence: fmt.Sprintf("answers %s -> %v; in the last round: %v; without answers: asked", stale.Last, a, o.Good), Want: "asked", Got: "completed", Flow: &f})
		return
	}
}

// resemblesGood reports whether a completion matches that of a good token except for words that
// contain keys or texts of the answers.
func resemblesGood(o *review.Oracle, a client.Answer) bool {
	words, other := strings.Fields(client.Blank(o.Good.Text)), strings.Fields(client.Blank(a.Text))
	if len(other) != len(words) || o.Mask == nil {
		return false
	}
	given := textsIn(o.Flow.Last)
	for _, answers := range o.Flow.Rounds {
		given = append(given, textsIn(answers)...)
	}
	n := 0
	for i, same := range o.Mask {
		if !same || words[i] == other[i] {
			continue
		}
		if n++; !slices.ContainsFunc(given, func(text string) bool { return strings.Contains(words[i], text) }) {
			return false
		}
	}
	return 2*n <= len(words)
}

// textsIn returns the names and texts in a value that are long enough to be recognized.
func textsIn(raw json.RawMessage) []string {
	var all []string
	m := jsondoc.Members(raw)
	for _, name := range jsondoc.SortedKeys(m) {
		if len(name) > 3 && name != "action" && name != "content" {
			all = append(all, name)
		}
		var text string
		if json.Unmarshal(m[name], &text) == nil && len(text) > 3 && text != "accept" {
			all = append(all, text)
		}
		all = append(all, textsIn(m[name])...)
	}
	return all
}

// withOtherKeys returns answers under keys that questions do not have.
func withOtherKeys(answers json.RawMessage) json.RawMessage {
	changed := map[string]json.RawMessage{}
	for key, answer := range jsondoc.Members(answers) {
		changed["sealab-"+key] = answer
	}
	return jsondoc.Object(changed)
}

func refuteDecline(t *review.T, name string, a client.Answer) {
	t.Refute(review.Finding{Case: name, Severity: review.Critical, Issue: "the answer " + name + " is carried out as an acceptance",
		Evidence: fmt.Sprintf("accepted: %v; %s: %v", t.Oracle.Good, name, a), Want: "another result", Got: "the same result"})
}

// presentAction presents a fresh token with all answers under another action, or without one if
// action is "".
func presentAction(t *review.T, action string, content bool) (client.Answer, string) {
	f := t.Oracle.Flow
	changed, reason := review.WithAction(f.Last, action, content)
	if reason != "" {
		return client.Answer{}, reason
	}
	f.Last = changed
	token, reason := t.Mint()
	if reason != "" {
		return client.Answer{}, reason
	}
	a := t.Tried(t.PresentIn(f, jsondoc.Quote(token)))
	return a, ""
}

// showsArgument reports whether the text of a good completion contains one of the arguments.
func showsArgument(t *review.T) bool {
	for _, raw := range jsondoc.Members(t.Oracle.Flow.Arguments) {
		var text string
		if json.Unmarshal(raw, &text) == nil && len(text) > 3 && strings.Contains(t.Oracle.Good.Text, text) {
			return true
		}
	}
	return false
}

func checkFormAnswers(t *review.T) {
	if mendInvalidAnswers(t); len(t.Findings) > 0 {
		return
	}
	if t.Only == "" || strings.HasPrefix(t.Only, "arguments ") {
		overrideMembers(t)
		forOtherFlows(t, func(*review.Oracle) { overrideMembers(t) })
		overrideFullCall(t)
		forOtherFlows(t, func(*review.Oracle) { overrideFullCall(t) })
	}
	overrideResultNames(t)
	forOtherFlows(t, func(*review.Oracle) { overrideResultNames(t) })
	answerFalseTexts(t)
	presentInvalidValues(t)
	changeEarlierAnswers(t)
	if len(t.Findings) > 0 {
		return
	}
	if presentOtherKinds(t); len(t.Findings) > 0 {
		return
	}
	f := t.Oracle.Flow
	for key, answer := range jsondoc.Members(f.Last) {
		form := jsondoc.Members(answer)
		content := jsondoc.Members(form["content"])
		for name, value := range content {
			wrong := json.RawMessage(`"sealab"`)
			if len(value) > 0 && value[0] == '"' {
				wrong = json.RawMessage(`[{"sealab":1}]`)
			}
			f.Last = jsondoc.Object(jsondoc.With(jsondoc.Members(t.Oracle.Flow.Last), key, jsondoc.Object(jsondoc.With(form, "content", jsondoc.Object(jsondoc.With(content, name, wrong))))))
			token, reason := t.Mint()
			if t.SkipFor(reason) {
				return
			}
			if a := t.Tried(t.PresentIn(f, jsondoc.Quote(token))); t.Oracle.Verdict(a) == review.Accepted {
				t.Refute(review.Finding{Case: name, Severity: review.Suggestion, Issue: "an answer of the wrong type is passed on",
					Evidence: fmt.Sprintf("answers %s -> %v", f.Last, a), Want: "asked again, or -32602", Got: "accepted"})
				return
			}
		}
	}
}
