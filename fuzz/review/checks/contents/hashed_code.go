package contents

import (
	"encoding/json"
	"fmt"
	"regexp"
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
