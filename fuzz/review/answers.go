package review

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// AnswersTo returns answers to the questions of a round, the most likely first.
func AnswersTo(questions map[string]client.Question) []json.RawMessage {
	sets := []map[string]json.RawMessage{{}}
	for key, q := range jsondoc.InOrder(questions) {
		var next []map[string]json.RawMessage
		for _, set := range sets {
			for _, answer := range answersToQuestion(q) {
				if len(next) < maxAnswers {
					next = append(next, jsondoc.With(set, key, answer))
				}
			}
		}
		sets = next
	}
	var all []json.RawMessage
	for _, set := range sets {
		all = append(all, jsondoc.Object(set))
	}
	if len(questions) > 1 {
		all = append(all, unlike(sets[0], questions))
	}
	return all
}

// unlike returns answers in which the forms after the first have other contents, because a server may
// want the contents to differ.
func unlike(answers map[string]json.RawMessage, questions map[string]client.Question) json.RawMessage {
	for _, key := range jsondoc.SortedKeys(questions)[1:] {
		answer := jsondoc.Members(answers[key])
		if content, _ := jsondoc.OtherContent(answer["content"], questions[key].Form()); content != nil {
			answers = jsondoc.With(answers, key, jsondoc.WithMember(answers[key], "content", content))
		}
	}
	return jsondoc.Object(answers)
}

// maxAnswers is the number of combinations of usual answers that are tried in a round.
const maxAnswers = 6

// answersToQuestion returns answers that accept a question. It opens no URL.
func answersToQuestion(q client.Question) []json.RawMessage {
	switch {
	case q.Method == "sampling/createMessage":
		return []json.RawMessage{json.RawMessage(`{"role":"assistant","content":{"type":"text","text":"probe"},"model":"probe","stopReason":"endTurn"}`)}
	case q.Method == "roots/list":
		return []json.RawMessage{json.RawMessage(`{"roots":[]}`)}
	case q.Params.Mode == "url":
		return []json.RawMessage{json.RawMessage(`{"action":"accept"}`)}
	}
	var all []json.RawMessage
	for _, content := range jsondoc.Samples(q.Form(), 0) {
		if jsondoc.Members(content) == nil {
			content = json.RawMessage("{}")
		}
		all = append(all, jsondoc.Object(map[string]json.RawMessage{"action": jsondoc.Quote("accept"), "content": content}))
	}
	return all
}

// WithAction returns answers under another action, or without one if action is "". If a question
// asks for more than a form, it returns the reason why there is no action.
func WithAction(answers json.RawMessage, action string, content bool) (changed json.RawMessage, reason string) {
	all := map[string]json.RawMessage{}
	for key, answer := range jsondoc.Members(answers) {
		form := jsondoc.Members(answer)
		if form["action"] == nil {
			return nil, "the round asks for more than forms"
		}
		if form = jsondoc.With(form, "action", jsondoc.Quote(action)); action == "" {
			delete(form, "action")
		}
		if !content {
			delete(form, "content")
		}
		all[key] = jsondoc.Object(form)
	}
	return jsondoc.Object(all), ""
}

// WithOtherKeys returns answers under keys that questions do not have.
func WithOtherKeys(answers json.RawMessage) json.RawMessage {
	changed := map[string]json.RawMessage{}
	for key, answer := range jsondoc.Members(answers) {
		changed["sealab-"+key] = answer
	}
	return jsondoc.Object(changed)
}

// PresentAction presents a fresh token with all answers under another action, or without one if
// action is "".
func (t *T) PresentAction(action string, content bool) (client.Answer, string) {
	changed, reason := WithAction(t.Oracle.Flow.Last, action, content)
	if reason != "" {
		return client.Answer{}, reason
	}
	a, reason := t.PresentAnswers(changed)
	if reason == "" {
		t.Trials++
	}
	return a, reason
}

// PresentAnswers presents a fresh token with other last answers.
func (t *T) PresentAnswers(answers json.RawMessage) (client.Answer, string) {
	token, reason := t.Mint()
	if reason != "" {
		return client.Answer{}, reason
	}
	return t.PresentIn(t.Oracle.Flow.WithLast(answers), jsondoc.Quote(token)), ""
}

// ResemblesGood reports whether a completion matches that of a good token except for words that
// contain keys or texts of the answers.
func (o *Oracle) ResemblesGood(a client.Answer) bool {
	words, other := strings.Fields(client.Blank(o.Good.Text)), strings.Fields(client.Blank(a.Text))
	if len(other) != len(words) || o.Mask == nil {
		return false
	}
	var given []string
	for _, answers := range o.Flow.Answers() {
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
		if text, ok := jsondoc.Text(m[name]); ok && len(text) > 3 && text != "accept" {
			all = append(all, text)
		}
		all = append(all, textsIn(m[name])...)
	}
	return all
}

// consentText matches names and titles of booleans by which a user consents.
var consentText = regexp.MustCompile(`(?i)consent|agree|accept|confirm|approv|authori|permission|permit|\ballow|\bterms\b`)

// IsGivenConsent reports whether a member of a form is a consent that is true by default.
func IsGivenConsent(name string, s jsondoc.Schema) bool {
	return s.TypeOf() == "boolean" && string(s.Default) == "true" && consentText.MatchString(name+" "+s.Title)
}
