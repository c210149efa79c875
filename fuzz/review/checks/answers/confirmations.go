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

// acceptAfterDecline declines or cancels a question and then accepts it with the same state. It
// records a finding if that is carried out, twice, although the server means answers to be final: a
// form that answers false has the same result as the decline, and its state is used up.
func acceptAfterDecline(t *review.T) {
	for _, o := range t.Oracles {
		no, ok := falseConfirmation(t, o)
		for _, action := range []string{"decline", "cancel"} {
			label := fmt.Sprintf("%s, then the acceptance, of %s", action, o.Flow.Target)
			declined, reason := review.WithAction(o.Flow.Last, action, false)
			if !ok || reason != "" || len(t.Findings) > 0 || !t.Selected(label) {
				continue
			}
			refusal := o.Flow.WithLast(declined)
			evidence := reopenedEvidence(t, o, no, refusal)
			if evidence == "" || reopenedEvidence(t, o, no, refusal) == "" {
				continue
			}
			severity := review.Warning
			if t.OneTime(o.Flow) {
				severity = review.Critical
			}
			t.Refute(review.Finding{Case: label, Severity: severity, Issue: "after " + action + ", the same state is accepted; after a form that answers false, with the same result, it is refused",
				Evidence: evidence, Want: "refused", Got: "carried out", Flow: &o.Flow})
		}
	}
}

// falseConfirmation returns a flow whose last form answers false to its confirmation. It returns
// false if there is none, or if results cannot be compared.
func falseConfirmation(t *review.T, o *review.Oracle) (client.Flow, bool) {
	f := o.Flow
	if !o.Completes() || o.Mask == nil {
		return f, false
	}
	_, asked, err := t.Client.Mint(t.Context, f, o.User)
	for _, key := range jsondoc.SortedKeys(jsondoc.Members(f.Last)) {
		if name := confirmationOf(f, asked, key); err == nil && name != "" {
			return f.WithAnswer(len(f.Rounds), key, name, json.RawMessage("false")), true
		}
	}
	return f, false
}

// reopenedEvidence returns evidence that an acceptance is refused after no and carried out after
// refusal, or "".
func reopenedEvidence(t *review.T, o *review.Oracle, no, refusal client.Flow) string {
	said, closed := thenAccepted(t, o, no)
	declined, reopened := thenAccepted(t, o, refusal)
	same := said.Kind == client.Completed && declined.Kind == client.Completed && said.SameWords(declined)
	if !same || o.Alike(said) || o.Verdict(closed) != review.Refused || reopened.Kind != client.Completed || !o.Alike(reopened) {
		return ""
	}
	return fmt.Sprintf("answers %s -> %v, then accepted with the same state: %v; answers %s -> %v, then accepted: %v", no.Last, said, closed, refusal.Last, declined, reopened)
}

// thenAccepted presents a fresh token with the answers of a flow, and again with those of o.
func thenAccepted(t *review.T, o *review.Oracle, f client.Flow) (first, second client.Answer) {
	token, _, err := t.Client.Mint(t.Context, f, o.User)
	if err != nil {
		return first, second
	}
	first = t.Tried(t.Client.Present(t.Context, f, jsondoc.Quote(token), o.User))
	return first, t.Tried(t.Client.Present(t.Context, o.Flow, jsondoc.Quote(token), o.User))
}

// wantedWord matches the word that a prompt asks a model to answer with.
var wantedWord = regexp.MustCompile(`(?i)\b(?:answer|reply|respond|say|write|return)(?: only)?(?: with)?:? ["'“]?([A-Za-z]{2,12})\b`)

// agreeingWords are words of models that a server may take for a consent.
var agreeingWords = []string{"OK", "Yes", "approved", "true"}

// maxWords is the number of words of a model that are tried.
const maxWords = 6

// presentModelsConsent declines the forms of a last question that also asks the client's model, which agrees. It
// records a finding if the result is that of an acceptance, twice.
func presentModelsConsent(t *review.T) {
	for _, o := range t.Oracles {
		label := "a model that agrees to " + o.Flow.Target
		if !o.Completes() || !asksModel(o.Flow.Last) || !t.Selected(label) {
			continue
		}
		for _, word := range wordsForModel(t, o.Flow, o) {
			if evidence := consentsByModel(t, o.Flow, o, word); evidence != "" {
				t.Refute(review.Finding{Case: label, Severity: review.Critical, Flow: &o.Flow, Issue: "the user declines, and the text of a model is taken for the consent",
					Evidence: evidence, Want: "not carried out", Got: "carried out"})
				return
			}
		}
	}
}

// asksModel reports whether answers are to forms and to a request for a model.
func asksModel(answers json.RawMessage) bool {
	forms, models := 0, 0
	for _, answer := range jsondoc.Members(answers) {
		switch m := jsondoc.Members(answer); {
		case m["action"] != nil:
			forms++
		case m["role"] != nil:
			models++
		}
	}
	return forms > 0 && models > 0
}

// wordsForModel returns words with which a model may agree, those that the question asks for first.
func wordsForModel(t *review.T, f client.Flow, o *review.Oracle) []string {
	_, question, err := t.Client.Mint(t.Context, f, o.User)
	if err != nil {
		return nil
	}
	var all []string
	for _, m := range wantedWord.FindAllStringSubmatch(string(question.Result), -1) {
		all = append(all, m[1])
	}
	all = slices.Compact(append(all, agreeingWords...))
	return all[:min(len(all), maxWords)]
}

// consentsByModel returns the evidence that declined forms beside a word of the model give the result of accepted
// ones, and not beside another word, or "".
func consentsByModel(t *review.T, f client.Flow, o *review.Oracle, word string) (evidence string) {
	present := func(answers json.RawMessage) client.Answer { return t.Walk(f.WithLast(answers), o.User) }
	for range 2 {
		accepted, declined := present(withModel(f.Last, word, false)), present(withModel(f.Last, word, true))
		t.Trials++
		if accepted.Kind != client.Completed || declined.Kind != client.Completed || !accepted.SameWords(declined) {
			return ""
		}
		plain := present(withModel(f.Last, "probe", true))
		if plain.SameWords(declined) {
			return ""
		}
		evidence = fmt.Sprintf("forms accepted, model %q: %v; forms declined, model %q: %v; forms declined, model \"probe\": %v", word, accepted, word, declined, plain)
	}
	return evidence
}

// withModel returns answers with another text of the model, and with the forms declined if decline is set.
func withModel(answers json.RawMessage, text string, decline bool) json.RawMessage {
	all := map[string]json.RawMessage{}
	for key, answer := range jsondoc.Members(answers) {
		m := jsondoc.Members(answer)
		switch {
		case m["role"] != nil:
			answer = jsondoc.WithMember(answer, "content", jsondoc.WithMember(m["content"], "text", jsondoc.Quote(text)))
		case m["action"] != nil && decline:
			answer = json.RawMessage(`{"action":"decline"}`)
		}
		all[key] = answer
	}
	return jsondoc.Object(all)
}
