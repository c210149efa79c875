package contents

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// A stateLeaf is a text or number in a readable state.
type stateLeaf struct{ path, value string }

// answerName matches names of members that hold the right answer, and codeName those that do so if the
// question asks for a code.
var (
	answerName = regexp.MustCompile(`(?i)(^|[._])(solutions?|(correct|right|expected)(_?(answer|value|word|result))?|otp|passcode|pin)$`)
	codeName   = regexp.MustCompile(`(?i)(^|[._])(secret|(one_?time_?)?code|tan)$`)
)

func (l stateLeaf) isNamed(question client.Answer) bool {
	return answerName.MatchString(l.path) || codeName.MatchString(l.path) && codeWords.MatchString(question.QuestionTexts())
}

// stateLeaves returns the texts and numbers in the objects of a readable token.
func stateLeaves(token string) (all []stateLeaf) {
	for _, v := range tokens.Views(token) {
		all = append(all, leavesBelow("state", jsondoc.Object(v.Object))...)
	}
	return all
}

func leavesBelow(path string, raw json.RawMessage) (all []stateLeaf) {
	var items []json.RawMessage
	members := jsondoc.Members(raw)
	text, isText := jsondoc.Text(raw)
	switch {
	case members != nil:
		for name, inner := range jsondoc.InOrder(members) {
			all = append(all, leavesBelow(path+"."+name, inner)...)
		}
	case json.Unmarshal(raw, &items) == nil:
		for i, inner := range items {
			all = append(all, leavesBelow(fmt.Sprintf("%s[%d]", path, i), inner)...)
		}
	case isText && text != "":
		all = append(all, stateLeaf{path, text})
	case strings.ContainsAny(string(raw[:1]), "-0123456789"):
		all = append(all, stateLeaf{path, string(raw)})
	}
	return all
}

const (
	keptAnswerCase = "a kept answer"
	maxKeptStates  = 8 // states in which answers are looked for
	maxKeptLeaves  = 6 // values that are looked at in each of them
)

// showsKeptAnswer looks for the right answer in readable states. It records a finding if the answer is
// accepted with effects, and another one is not, each time; or if the name of a member says that it is one.
func showsKeptAnswer(t *review.T) bool {
	if !t.Selected(keptAnswerCase) {
		return false
	}
	tried := 0
	for _, o := range t.Oracles {
		for _, stage := range o.AskingRounds() {
			if tried++; tried > maxKeptStates {
				return false
			}
			if showsKeptAnswerIn(t, o, stage) {
				return true
			}
		}
	}
	return false
}

func showsKeptAnswerIn(t *review.T, o *review.Oracle, f client.Flow) bool {
	token, question, err := t.Client.Mint(t.Context, f, o.User)
	if err != nil {
		return false
	}
	t.Trials++
	for _, leaf := range answerLeaves(t, f, token, question) {
		severity, evidence, is := review.Warning, fmt.Sprintf("token %s holds %s = %s", client.Short(token, 200), leaf.path, leaf.value), leaf.isNamed(question)
		if t.Options.Effects {
			severity = review.Critical
			evidence, is = answersLeaf(t, o, f, leaf.path)
		}
		if !is || isRead(t, leaf.value) {
			continue
		}
		t.Refute(review.Finding{Case: keptAnswerCase, Severity: severity, Issue: "the right answer to the question can be read in the token",
			Evidence: evidence, Want: "not readable", Got: "readable", Flow: &f})
		return true
	}
	return false
}

// answerLeaves returns the values in a token that are answers to its question and that the client does not
// know otherwise. Those with the name of an answer come first.
func answerLeaves(t *review.T, f client.Flow, token string, question client.Answer) []stateLeaf {
	all := slices.DeleteFunc(stateLeaves(token), func(l stateLeaf) bool {
		return answerWith(question, l.value) == nil || isTold(t, f, question, l.value) || mayBeBound.MatchString(l.value) && !l.isNamed(question)
	})
	slices.SortStableFunc(all, func(a, b stateLeaf) int {
		return map[bool]int{false: 1}[a.isNamed(question)] - map[bool]int{false: 1}[b.isNamed(question)]
	})
	return all[:min(len(all), maxKeptLeaves)]
}

// mayBeBound matches numbers that may be the bound of an answer.
var mayBeBound = regexp.MustCompile(`^-?\d{1,3}(\.\d+)?$`)

// isTold reports whether a question, its arguments, the answers before it or the credential contain a value.
func isTold(t *review.T, f client.Flow, question client.Answer, value string) bool {
	_, credential := t.Options.Target.Authorization()
	shown := jsondoc.Object(jsondoc.Without(jsondoc.Members(question.Result), "requestState"))
	told := []string{formLimits.ReplaceAllString(string(shown), ""), string(f.Arguments), credential}
	for _, answers := range f.Rounds {
		told = append(told, string(answers))
	}
	return hasWord(strings.Join(told, "\n"), value)
}

// formLimits matches numbers that limit the answers to a form.
var formLimits = regexp.MustCompile(`"(min|max)\w+":\d+`)

// isRead reports whether the user may read a value.
func isRead(t *review.T, value string) bool {
	return slices.ContainsFunc(t.ReadingCalls(), func(c client.Call) bool { return hasWord(string(t.Call(c).Result), value) })
}

// hasWord reports whether a text has a value as words, in any case.
func hasWord(text, value string) bool {
	return client.HasWord(strings.ToLower(text), strings.ToLower(value))
}

// A keptAnswer is a value in the state of a question.
type keptAnswer struct {
	stateLeaf
	token    string
	question client.Answer
}

// mintKept mints a token and returns the value at a path of its state, if the client does not know it. The
// question may contain it by chance.
func mintKept(t *review.T, o *review.Oracle, f client.Flow, path string) (kept keptAnswer, ok bool) {
	for range review.Repetitions {
		token, question, err := t.Client.Mint(t.Context, f, o.User)
		leaves := stateLeaves(token)
		i := slices.IndexFunc(leaves, func(l stateLeaf) bool { return l.path == path })
		if err != nil || i < 0 {
			break
		}
		if !isTold(t, f, question, leaves[i].value) {
			return keptAnswer{leaves[i], token, question}, true
		}
	}
	return kept, false
}

// answersLeaf answers questions with the value at a path of their states, and with that of another state or,
// if they are equal and have the name of an answer, another value. It reports whether the first alone is
// accepted, each time.
func answersLeaf(t *review.T, o *review.Oracle, f client.Flow, path string) (evidence string, ok bool) {
	for range review.Repetitions {
		one, ok := mintKept(t, o, f, path)
		two, also := mintKept(t, o, f, path)
		if !ok || !also || one.value == two.value && !two.isNamed(two.question) {
			return "", false
		}
		other := one.value
		if other == two.value {
			other = jsondoc.OtherEnd(other)
		}
		right, wrong := f.WithLast(answerWith(one.question, one.value)), f.WithLast(answerWith(two.question, other))
		if right.Last == nil || wrong.Last == nil {
			return "", false
		}
		accepted := t.Tried(t.Client.Present(t.Context, right, jsondoc.Quote(one.token), o.User))
		refused := t.Tried(t.Client.Present(t.Context, wrong, jsondoc.Quote(two.token), o.User))
		if !isNext(accepted, one.question) || !refused.Conclusive() || refused.Kind == accepted.Kind && (!accepted.GoesOn(one.question) || refused.GoesOn(two.question)) {
			return "", false
		}
		evidence = fmt.Sprintf("token %s holds %s = %s; answers %s -> %v; answers %s with another token -> %v", client.Short(one.token, 200), path, one.value, right.Last, accepted, wrong.Last, refused)
	}
	return evidence, true
}

// isNext reports whether an answer is a result or another question, maybe of the same form.
func isNext(a, question client.Answer) bool {
	return a.GoesOn(question) || a.Kind == client.Asked && a.QuestionTexts() != question.QuestionTexts()
}
