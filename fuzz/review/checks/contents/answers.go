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

// A hashedCode is a number that a state hides in a hash and its question asks for.
type hashedCode struct {
	flow         client.Flow // with the number as its answer
	question     client.Answer
	token, value string
}

// maxHashedStates is the number of states in which hashes of numbers are looked for. Each may take
// millions of hashes.
const maxHashedStates = 3

const hashedCodeCase = "a hashed code"

// showsHashedCode looks for hashes of short numbers in states. It records a finding if the question
// asks for the number, and if with effects the number is accepted, and another one is not, twice.
func showsHashedCode(t *review.T) bool {
	if !t.Selected(hashedCodeCase) {
		return false
	}
	tried := 0
	for _, o := range t.Oracles {
		for _, stage := range o.AskingRounds() {
			if tried++; tried > maxHashedStates {
				return false
			}
			found, ok := findHashedCode(t, o, stage)
			if !ok || isShown(t, found) {
				continue
			}
			severity, evidence := review.Warning, fmt.Sprintf("token %s holds a hash of %s", client.Short(found.token, 200), found.value)
			switch {
			case t.Options.Effects:
				if evidence, ok = answersHashedCode(t, o, stage); !ok {
					continue
				}
				severity = review.Critical
			case !codeWords.MatchString(found.question.QuestionTexts()):
				continue
			}
			t.Refute(review.Finding{Case: hashedCodeCase, Severity: severity, Issue: "the hash of a short number that the question asks for can be read in the token: trying all numbers finds it",
				Evidence: evidence, Want: "not readable", Got: "readable", Flow: &stage})
			return true
		}
	}
	return false
}

// codeWords are words of questions that ask for a code.
var codeWords = regexp.MustCompile(`(?i)\b(codes?|pin|tan|otp|passcode|digits|token|kod|código|codice)\b`)

// findHashedCode mints two tokens and returns the number whose hash is in the first alone, if the
// question allows it as an answer.
func findHashedCode(t *review.T, o *review.Oracle, f client.Flow) (found hashedCode, ok bool) {
	another, _, also := t.Client.Mint(t.Context, f, o.User)
	token, question, err := t.Client.Mint(t.Context, f, o.User)
	if err != nil || also != nil {
		return found, false
	}
	t.Trials++
	number := tokens.HashedNumber(token, another)
	if number == "" {
		return found, false
	}
	if f.Last = answerWith(question, number); f.Last == nil {
		return found, false
	}
	return hashedCode{f, question, token, number}, true
}

// answerWith returns answers to a question that contain a number, or nil if no form takes it.
func answerWith(question client.Answer, number string) json.RawMessage {
	answers := review.AnswersTo(question.Questions)[0]
	for key, q := range jsondoc.InOrder(question.Questions) {
		answer := jsondoc.Members(jsondoc.At(answers, key))
		for name, s := range jsondoc.Fields(q.Form()) {
			value := jsondoc.Quote(number)
			if kind := s.TypeOf(); kind == "integer" || kind == "number" {
				value = json.RawMessage(strings.TrimLeft(number[:len(number)-1], "0") + number[len(number)-1:])
			}
			if !jsondoc.Fits(s.Raw, value) {
				continue
			}
			content := jsondoc.WithMember(answer["content"], name, value)
			return jsondoc.WithMember(answers, key, jsondoc.Object(jsondoc.With(answer, "content", content)))
		}
	}
	return nil
}

// isShown reports whether the client knows a number otherwise: from the rest of the state, the
// question, the arguments, the credential, or what the user may read.
func isShown(t *review.T, c hashedCode) bool {
	shown := regexp.MustCompile(`\b` + c.value + `\b`)
	_, credential := t.Options.Target.Authorization()
	known := []string{tokens.InTheOpen(c.token), string(c.question.Result), string(c.flow.Arguments), credential}
	for _, call := range t.ReadingCalls() {
		known = append(known, string(t.Call(call).Result))
	}
	return shown.MatchString(strings.Join(known, "\n"))
}

// answersHashedCode answers questions with the number in their states, and with another one. It
// reports whether the first alone goes on, each time.
func answersHashedCode(t *review.T, o *review.Oracle, f client.Flow) (evidence string, ok bool) {
	for range review.Repetitions {
		found, ok := findHashedCode(t, o, f)
		if !ok {
			return "", false
		}
		right := t.Tried(t.Client.Present(t.Context, found.flow, jsondoc.Quote(found.token), o.User))
		wrong := found.flow
		token, question, err := t.Client.Mint(t.Context, f, o.User)
		if wrong.Last = answerWith(question, jsondoc.OtherEnd(found.value)); err != nil || wrong.Last == nil {
			return "", false
		}
		refused := t.Tried(t.Client.Present(t.Context, wrong, jsondoc.Quote(token), o.User))
		if !right.GoesOn(found.question) || !refused.Conclusive() || refused.Class() == right.Class() {
			return "", false
		}
		evidence = fmt.Sprintf("token %s holds a hash of %s; answers %s -> %v; answers %s with another token -> %v",
			client.Short(found.token, 200), found.value, found.flow.Last, right, wrong.Last, refused)
	}
	return evidence, true
}

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
