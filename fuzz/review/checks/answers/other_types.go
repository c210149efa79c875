package answers

import (
	"encoding/json"
	"fmt"
	"regexp"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// looseValues are values of other types that careless comparisons and queries take for every text, each
// with a value of its type that they do not.
var looseValues = []struct{ loose, strict string }{
	{"true", "false"}, {"0", "7919"}, {"null", `""`}, {"[]", `["sealab"]`}, {`[""]`, `["sealab"]`}, {"{}", `{"sealab":1}`},
	{`{"$ne":""}`, `{"$eq":"sealab"}`}, {`{"$gt":""}`, `{"$lt":""}`}, {`{"$regex":".*"}`, `{"$regex":"^sealab$"}`},
}

// presentOtherTypes answers forms whose texts and numbers the server refuses with values of other
// types. It records a finding if one of these goes on.
func presentOtherTypes(t *review.T) {
	for _, o := range t.Oracles {
		for _, stage := range o.Flow.Stages() {
			stage.Last = nil
			_, question, err := t.Client.Mint(t.Context, stage, o.User)
			if err != nil {
				continue
			}
			answers := review.AnswersTo(question.Questions)[0]
			for key, q := range jsondoc.InOrder(question.Questions) {
				for name, s := range jsondoc.Fields(q.Form()) {
					m := typedMember{t: t, o: o, flow: stage, question: question, key: key, name: name, schema: s}
					m.flow.Last = answers
					if m.present(); len(t.Findings) > 0 {
						return
					}
				}
			}
		}
	}
}

// A typedMember is a text or a number that a form asks for.
type typedMember struct {
	t         *review.T
	o         *review.Oracle
	flow      client.Flow // with honest answers
	question  client.Answer
	key, name string
	schema    jsondoc.Schema
}

// answer returns the answer to a fresh token with another value of the member, or without it if value
// is "".
func (m typedMember) answer(value string) client.Answer {
	round := len(m.flow.Rounds)
	content := jsondoc.Without(m.flow.Content(round, m.key), m.name)
	if value != "" {
		content = jsondoc.With(content, m.name, json.RawMessage(value))
	}
	return m.t.Tried(m.t.Fresh(m.flow.WithContent(round, m.key, content), m.o.User))
}

// refusalWords are words of results that refuse an answer.
var refusalWords = regexp.MustCompile(`(?i)\b(not?|wrong|invalid|incorrect|denied|refused|failed|nothing|unknown|cannot|can't|isn't)\b`)

// refuses reports whether an answer is a refusal, the question again, or a result that says so.
func (m typedMember) refuses(a client.Answer) bool {
	return a.Conclusive() && (!a.GoesOn(m.question) || a.Kind == client.Completed && refusalWords.MatchString(a.Text))
}

// present presents values of other types if the server refuses usual ones.
func (m typedMember) present() {
	kind, label := m.schema.TypeOf(), fmt.Sprintf("another type for %s of %s", m.name, m.flow.Target)
	usual := m.flow.Content(len(m.flow.Rounds), m.key)[m.name]
	if usual == nil || m.schema.Listed() || kind != "string" && kind != "number" && kind != "integer" || !m.t.Selected(label) {
		return
	}
	wrong := m.answer(string(usual))
	if !m.refuses(wrong) {
		return
	}
	for _, v := range looseValues {
		if jsondoc.Fits(m.schema.Raw, json.RawMessage(v.loose)) {
			continue
		}
		a := m.answer(v.loose)
		if m.refuses(a) || !a.GoesOn(m.question) || !m.isSpecial(a, v.strict) || !m.isRepeated(a, v.loose, string(usual)) {
			continue
		}
		m.t.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: fmt.Sprintf("a value of another type in the place of %s is accepted, and a usual value is not", client.Short(m.name, 40)),
			Evidence: fmt.Sprintf("%s -> %v; %s -> %v", client.Short(string(usual), 80), wrong, v.loose, a), Want: "asked again, or -32602", Got: "accepted", Flow: &m.o.Flow})
		return
	}
}

// isSpecial reports whether the server refuses a value of the same type as the one that has the answer
// a, and absent and empty values, and whether declines have another result.
func (m typedMember) isSpecial(a client.Answer, strict string) bool {
	for _, other := range []string{strict, "", `""`, "false"} {
		if !m.refuses(m.answer(other)) {
			return false
		}
	}
	for _, action := range []string{"decline", "cancel"} {
		changed, reason := review.WithAction(m.flow.Last, action, false)
		if reason != "" {
			return false
		}
		declined := m.flow.WithLast(changed)
		one, two := m.t.Fresh(declined, m.o.User), m.t.Fresh(declined, m.o.User)
		if a.Class() == one.Class() && (a.SameWords(one) || !one.SameWords(two)) {
			return false
		}
	}
	return true
}

// isRepeated reports whether the loose value goes on again, and the usual one is refused again.
func (m typedMember) isRepeated(a client.Answer, loose, usual string) bool {
	return m.answer(loose).Class() == a.Class() && m.refuses(m.answer(usual)) && m.answer(loose).Class() == a.Class()
}
