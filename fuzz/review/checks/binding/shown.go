package binding

import (
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// shownTimes is the number of times that a state must show words of its owner. Some servers choose words
// of their questions at random.
const shownTimes = 4

// showsQuestions presents states of the first user, of each round and without answers, as the second user.
// A server may compare the user only if a request has answers. showsQuestions records a finding if the
// second user then gets words of the question that are in none of his own questions.
func showsQuestions(t *review.T) {
	for _, o := range t.Oracles {
		name := "the questions of " + o.Flow.Target + ", asked again by another user"
		if o.User != client.FirstUser || o.Flow.Last == nil || !t.Selected(name) {
			continue
		}
		for _, f := range o.AskingRounds() {
			word, evidence := shownWord(t, f)
			if word == "" {
				continue
			}
			t.Refute(review.Finding{Case: name, Severity: review.Warning,
				Issue:    "a state of one user without answers shows another user the question of its owner: " + client.Short(word, 40),
				Evidence: evidence, Want: "refused, or the own question", Got: "the question of the owner", Flow: &o.Flow})
			return
		}
	}
}

// shownWord returns a word of the first user's question at the end of a flow that the second user gets with
// its state, each time, and not at the end of his own flow. It returns "" if there is none.
func shownWord(t *review.T, f client.Flow) (word, evidence string) {
	var common []string
	for i := range shownTimes {
		token, question, err := t.Client.Mint(t.Context, f, client.FirstUser)
		if err != nil {
			return "", ""
		}
		a := t.Tried(t.Client.Present(t.Context, f, jsondoc.Quote(token), client.SecondUser))
		if a.Kind != client.Asked || a.Class() != question.Class() {
			return "", ""
		}
		if i == 0 {
			common = strings.Fields(question.QuestionTexts())
		}
		_, own, err := t.Client.Mint(t.Context, f, client.SecondUser)
		if err != nil || own.Class() != question.Class() {
			return "", ""
		}
		common = slices.DeleteFunc(common, func(w string) bool {
			return !strings.Contains(question.QuestionTexts(), w) || !strings.Contains(a.QuestionTexts(), w) || strings.Contains(own.QuestionTexts(), w)
		})
		if len(common) == 0 {
			return "", ""
		}
		evidence = fmt.Sprintf("a state of the first user, as the second -> %s; his own question: %s", client.Short(a.QuestionTexts(), 200), client.Short(own.QuestionTexts(), 200))
	}
	return common[0], evidence
}
