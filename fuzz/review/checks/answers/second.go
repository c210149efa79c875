package answers

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// secondPerson matches questions that ask another person than the first.
var secondPerson = regexp.MustCompile(`(?i)\b(second|another|other|different)\s+(\w+\s+)?(person|member|approver|colleague|user|signer|witness|reviewer|officer|manager|director|employee|keeper|holder)|someone else|four[- ]eyes|two[- ]person|co-?sign|counter-?sign`)

// answerAsSecondPerson answers two questions with the secret of one person. It records a finding if the
// second one asks another person and the call is carried out, twice, while a wrong secret is refused.
func answerAsSecondPerson(t *review.T) {
	for _, o := range t.Oracles {
		label := "one person for two in " + o.Flow.Target
		for _, secret := range shownSecrets(t, o) {
			if len(t.Findings) > 0 || !t.Selected(label) {
				return
			}
			question, a := answerTwice(t, o, secret, secret)
			if a.Kind != client.Completed || !secondPerson.MatchString(question.QuestionTexts()) {
				continue
			}
			_, again := answerTwice(t, o, secret, secret)
			if _, wrong := answerTwice(t, o, secret, jsondoc.OtherEnd(secret)); again.Kind == client.Completed && wrong.Conclusive() && wrong.Kind != client.Completed {
				t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "a question for another person takes the answer of the first one", Flow: &o.Flow,
					Evidence: fmt.Sprintf("the same answer to both questions, the second of which is %q -> %v; a wrong answer -> %v", client.Short(question.QuestionTexts(), 120), a, wrong), Want: "refused", Got: "completed"})
			}
		}
	}
}

// shownSecrets returns the texts of read-only tools without arguments that fit a form in the first question.
func shownSecrets(t *review.T, o *review.Oracle) []string {
	var all []string
	for _, tool := range t.Readers() {
		if len(jsondoc.ParseSchema(tool.Input).Required) > 0 || len(all) == review.MaxTestedCalls {
			continue
		}
		text := strings.TrimSpace(t.Call(t.FlowOf(tool).Call(o.User)).Text)
		if _, fits := filledWith(o.Fresh.Questions, text); fits && len(text) >= 4 && !strings.ContainsAny(text, " \n") {
			all = append(all, text)
		}
	}
	return all
}

// filledWith returns answers to questions with a text in the members that allow it, and whether there is one.
func filledWith(questions map[string]client.Question, text string) (answers json.RawMessage, fits bool) {
	answers = review.AnswersTo(questions)[0]
	for key, q := range questions {
		for name, s := range jsondoc.Fields(q.Form()) {
			if s.TypeOf() == "string" && jsondoc.Fits(s.Raw, jsondoc.Quote(text)) {
				answers = client.Flow{Last: answers}.WithAnswer(0, key, name, jsondoc.Quote(text)).Last
				fits = true
			}
		}
	}
	return answers, fits
}

// answerTwice answers the first two questions of a flow. It returns the second one and the answer to it.
func answerTwice(t *review.T, o *review.Oracle, first, second string) (question, a client.Answer) {
	call := o.Flow.Call(o.User)
	question = t.Call(call)
	if question.Kind != client.Asked {
		return question, client.Answer{}
	}
	answers, _ := filledWith(question.Questions, first)
	question = t.Tried(t.Call(t.Client.Reply(call, question, answers)))
	answers, fits := filledWith(question.Questions, second)
	if question.Kind != client.Asked || !fits {
		return question, client.Answer{}
	}
	return question, t.Tried(t.Call(t.Client.Reply(call, question, answers)))
}
