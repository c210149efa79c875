package answers

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

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
