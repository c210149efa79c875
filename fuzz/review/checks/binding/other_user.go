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

// presentAsUnasked presents tokens of the first user as users whose own calls are refused, so that they
// have no flow that a token can be moved to: the second user, and a client without credentials.
func presentAsUnasked(t *review.T) {
	for _, o := range t.Oracles {
		for _, x := range []struct {
			name string
			as   client.User
		}{{"of the first, by the second, who is not asked", client.SecondUser}, {"of the first, by nobody, who is not asked", client.Nobody}} {
			if o.User != client.FirstUser || o.Presence || len(t.Findings) > 0 || !t.Selected(x.name) {
				continue
			}
			evidence := ""
			for range 2 {
				if evidence = acceptedUnasked(t, o, x.as); evidence == "" {
					break
				}
			}
			if evidence == "" {
				continue
			}
			severity, remark := review.Critical, ""
			if !o.Completes() {
				severity, remark = review.Warning, " and gets its question"
			}
			t.Refute(review.Finding{Case: x.name, Severity: severity, Issue: "a token of one user is accepted from another whose own call is refused" + remark,
				Evidence: x.name + ": " + evidence, Want: "refused", Got: "accepted", Flow: &o.Flow})
		}
	}
}

// acceptedUnasked presents a token of the first user as another one. It returns the evidence if the token
// is accepted while the other's own call before and after it, garbage and the answers alone are refused,
// and "" if not.
func acceptedUnasked(t *review.T, o *review.Oracle, as client.User) string {
	call := o.Flow.Call(as)
	before := t.Client.Call(t.Context, call)
	if !before.Refused() {
		return ""
	}
	token, _, err := t.Client.Mint(t.Context, o.Flow, client.FirstUser)
	if err != nil {
		return ""
	}
	a := t.Tried(t.Client.Present(t.Context, o.Flow, jsondoc.Quote(token), as))
	if o.Verdict(a) != review.Accepted || a.Kind != o.Good.Kind || a.Kind == client.Completed && o.Mask != nil && !o.Alike(a) {
		return ""
	}
	for _, control := range []client.Answer{t.Client.Present(t.Context, o.Flow, jsondoc.Quote(review.GarbageState), as),
		t.Client.Call(t.Context, o.Flow.AnswersAlone(as)), t.Client.Call(t.Context, call)} {
		if !control.Refused() {
			return ""
		}
	}
	return fmt.Sprintf("the own call %s -> %v; with the token -> %v", o.Flow.Arguments, before, a)
}
