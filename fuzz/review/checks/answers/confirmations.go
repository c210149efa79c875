package answers

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// confirmWithFalse accepts forms with the answer false to a confirmation. It records a finding if
// the result is that of true, twice, and a decline has another one.
func confirmWithFalse(t *review.T) {
	for _, o := range t.Oracles {
		for _, f := range o.Flow.Stages() {
			_, asked, err := t.Client.Mint(t.Context, f, o.User)
			for _, key := range jsondoc.SortedKeys(jsondoc.Members(f.Last)) {
				name := confirmationOf(f, asked, key)
				label := fmt.Sprintf("false for %s in round %d of %s", name, len(f.Rounds)+1, f.Target)
				if err != nil || name == "" || len(t.Findings) > 0 || !t.Selected(label) {
					continue
				}
				if evidence := carriedOutEvidence(t, o, f, key, name); evidence != "" {
					t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "an accepted form that answers false to its confirmation is carried out as one that answers true",
						Evidence: evidence, Want: "another result", Got: "the same result", Flow: &o.Flow})
				}
			}
		}
	}
}

// confirmationName and confirmationText match the names and the titles of members that confirm.
var (
	confirmationName = regexp.MustCompile(`(?i)^(i|is|are|you|please|really)?[_-]?(confirm(ed|ation)?|approved?|approval|agreed?|sure|proceed|ok(ay)?|yes|accept(ed)?|continue|go_?(on|ahead)|do_?it|right|correct)$`)
	confirmationText = regexp.MustCompile(`(?i)^(yes|confirm|i (confirm|agree|approve)|are you (really )?sure|really|(yes,? )?(proceed|continue|please|do it|go (on|ahead)))[?.!]?$`)
)

// confirmationOf returns the name of the member of the last answer to a question that confirms and is
// true, or "".
func confirmationOf(f client.Flow, asked client.Answer, key string) string {
	name := confirmationIn(asked.Questions[key].Form())
	if name == "" || string(f.Content(len(f.Rounds), key)[name]) != "true" {
		return ""
	}
	return name
}

// confirmationIn returns the name of the member by which a form asks for a confirmation: its only
// boolean, which it requires. It returns "" without one.
func confirmationIn(form json.RawMessage) string {
	s, found := jsondoc.ParseSchema(form), ""
	for name, p := range jsondoc.Fields(form) {
		if p.TypeOf() != "boolean" {
			continue
		}
		confirms := confirmationName.MatchString(name) || confirmationText.MatchString(p.Title) || confirmationText.MatchString(p.About)
		if found != "" || !confirms || !slices.Contains(s.Required, name) {
			return ""
		}
		found = name
	}
	return found
}

// recordsAnswers matches results that may say the same about true and false, and tell none of them.
var recordsAnswers = regexp.MustCompile(`(?i)record|saved|stored|noted|preference|answer|choice|decision|response|thank|received|submitted`)

// tellsNothing matches results that say that nothing was done: after false rightly, and after true if an
// earlier call has done it.
var tellsNothing = regexp.MustCompile(`(?i)\b(nothing|not?|none|never|already|unchanged|cannot)\b|n['’]t\b`)

// carriedOutEvidence returns evidence that the answer false has the result of true, or "". It tries
// new arguments first, for which no earlier result can be kept.
func carriedOutEvidence(t *review.T, o *review.Oracle, stage client.Flow, key, name string) string {
	if fresh := o.Flow.ArgumentsWith(t.Word()); fresh != nil {
		if evidence, _ := equalResults(t, o, stage.With(fresh), o.Flow.With(fresh), key, name); evidence != "" {
			return evidence
		}
	}
	evidence, kept := equalResults(t, o, stage, o.Flow, key, name)
	if kept {
		return ""
	}
	return evidence
}

// equalResults returns evidence that a flow has equal results for false and true in the last round
// of stage, and another one for a decline. The server may have kept the result of an earlier call
// if it repeats it word by word, and also without the answer.
func equalResults(t *review.T, o *review.Oracle, stage, f client.Flow, key, name string) (evidence string, kept bool) {
	round := len(stage.Rounds)
	no, none := f.WithAnswer(round, key, name, json.RawMessage("false")), f.WithContent(round, key, jsondoc.Without(f.Content(round, key), name))
	first := t.Tried(t.Fresh(no, o.User))
	one, two, last := t.Fresh(f, o.User), t.Fresh(f, o.User), t.Tried(t.Fresh(no, o.User))
	declined, reason := review.WithAction(stage.Last, "decline", false)
	if reason != "" || !sameResult(one, two, first) || !sameResult(one, two, last) || recordsAnswers.MatchString(one.Text) || tellsNothing.MatchString(one.Text+"\n"+two.Text+"\n"+last.Text) {
		return "", false
	}
	stage.Last = declined
	if d := t.Fresh(stage, o.User); d.Kind == "" || !d.Conclusive() || sameResult(one, two, d) {
		return "", false
	}
	kept = (last.Text == one.Text || last.Text == two.Text) && sameResult(one, two, t.Fresh(none, o.User))
	return fmt.Sprintf("%s of %s: true -> %v; false -> %v", client.Short(name, 40), client.Short(key, 40), one, last), kept
}

// sameResult reports whether a completion has the words that are equal in two good ones. A zero
// among the other words may tell that the call had no effect.
func sameResult(one, two, a client.Answer) bool {
	words, again, other := strings.Fields(one.Text), strings.Fields(two.Text), strings.Fields(a.Text)
	if one.Kind != client.Completed || two.Kind != client.Completed || a.Kind != client.Completed || len(words) != len(again) || len(words) != len(other) {
		return false
	}
	for i := range words {
		if words[i] == again[i] && other[i] != words[i] || words[i] != again[i] && strings.Trim(other[i], ".,;:()") == "0" {
			return false
		}
	}
	return true
}
