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

// A pairMember is a text of a form, at a round of a flow.
type pairMember struct {
	t         *review.T
	o         *review.Oracle
	round     int
	key, name string
	valid     string // that the flow gives
}

// pairs are ways to give an allowed text and another one in the place of one text.
var pairs = []func(valid, other string) any{
	func(valid, other string) any { return []string{valid, other} },
	func(valid, other string) any { return []string{other, valid} },
	func(valid, other string) any { return map[string]string{"0": valid, "1": other} },
	func(valid, other string) any { return map[string]string{"value": valid, "values": other} },
	func(valid, other string) any { return map[string]string{valid: other} },
	func(valid, other string) any { return valid + "," + other },
	func(valid, other string) any { return other + "," + valid },
	func(valid, other string) any { return valid + ";" + other },
	func(valid, other string) any { return valid + " " + other },
	func(valid, other string) any { return valid + "\n" + other },
	func(valid, other string) any { return other + "\n" + valid },
}

// presentPairs gives the texts of forms together with texts that the server refuses alone: in lists, in
// objects, and joined. It records a finding if the result is that of the text, but also shows the other one.
func presentPairs(t *review.T) {
	for _, o := range t.Oracles {
		if !o.Completes() {
			continue
		}
		for _, stage := range o.Flow.Stages() {
			for _, key := range jsondoc.SortedKeys(jsondoc.Members(stage.Last)) {
				round := len(stage.Rounds)
				for name, raw := range jsondoc.InOrder(stage.Content(round, key)) {
					m := pairMember{t: t, o: o, round: round, key: key, name: name}
					m.valid, _ = jsondoc.Text(raw) // "" if it is no text
					if m.valid == "" || len(t.Findings) > 0 || !t.Selected(m.label()) {
						continue
					}
					if schema := memberSchema(t, stage, o, key, name); schema != nil {
						m.present(schema)
					}
				}
			}
		}
	}
}

func (m pairMember) label() string {
	return fmt.Sprintf("another value beside that of %s in round %d of %s", m.name, m.round+1, m.o.Flow.Target)
}

// foreign returns a new text. It has the domain of the valid one if this is an address.
func (m pairMember) foreign() string {
	if at := strings.LastIndex(m.valid, "@"); at >= 0 {
		return m.t.Word() + m.valid[at:]
	}
	return m.t.Word()
}

// answer carries out the flow with another value of the member.
func (m pairMember) answer(v any) client.Answer {
	return m.t.Tried(m.t.Walk(m.o.Flow.WithAnswer(m.round, m.key, m.name, asJSON(v)), m.o.User))
}

func asJSON(v any) json.RawMessage {
	raw, _ := json.Marshal(v) // texts always encode
	return raw
}

// refuses reports whether the flow does not complete with a value, or its result says that it refuses it.
func (m pairMember) refuses(v any) bool {
	a := m.answer(v)
	return a.Conclusive() && (a.Kind != client.Completed || refusalWords.MatchString(a.Text))
}

// present presents the pairs that the schema excludes.
func (m pairMember) present(schema json.RawMessage) {
	if !m.refuses(m.foreign()) {
		return
	}
	honest := [2]client.Answer{m.answer(m.valid), m.answer(m.valid)}
	if honest[0].Kind != client.Completed || honest[1].Kind != client.Completed || refusalWords.MatchString(honest[0].Text) {
		return
	}
	for _, pair := range pairs {
		if jsondoc.Fits(schema, asJSON(pair(m.valid, m.foreign()))) {
			continue
		}
		evidence := m.carriedOut(pair, honest)
		if evidence == "" || m.carriedOut(pair, honest) == "" {
			continue
		}
		m.t.Refute(review.Finding{Case: m.label(), Severity: review.Warning,
			Issue:    fmt.Sprintf("a value of %s that is refused alone is carried out beside one that its form allows", client.Short(m.name, 40)),
			Evidence: fmt.Sprintf("%s -> %v; %s", client.Short(m.valid, 80), honest[0], evidence), Want: "asked again, or -32602", Got: "accepted", Flow: &m.o.Flow})
		return
	}
}

// carriedOut returns evidence that the server carries out a pair as the valid value, and shows the other one as
// often as this one, or "". The server must refuse the other value alone, and a pair of others.
func (m pairMember) carriedOut(pair func(valid, other string) any, honest [2]client.Answer) string {
	other := m.foreign()
	a := m.answer(pair(m.valid, other))
	n := strings.Count(a.Text, other)
	if a.Kind != client.Completed || n == 0 || n < strings.Count(a.Text, m.valid) || !sameBut(a.Text, other, honest[0].Text, honest[1].Text) {
		return ""
	}
	if !m.refuses(other) || !m.refuses(pair(m.foreign(), m.foreign())) {
		return ""
	}
	return fmt.Sprintf("%s -> %v; %s alone is refused", client.Short(string(asJSON(pair(m.valid, other))), 120), a, client.Short(other, 80))
}

// conjunctions are words that join the last two items of a list.
var conjunctions = []string{"and", "und", "et", "y", "e"}

// sameBut reports whether a text without one of its values has the words of an honest result, but for words in
// which two honest results differ.
func sameBut(text, value, honest, again string) bool {
	words := func(text string) []string {
		return slices.DeleteFunc(client.Words(client.Blank(text)), func(w string) bool { return slices.Contains(conjunctions, w) })
	}
	got, one, two := words(strings.ReplaceAll(text, value, "")), words(honest), words(again)
	if len(got) != len(one) || len(one) != len(two) {
		return false
	}
	for i := range got {
		if got[i] != one[i] && one[i] == two[i] {
			return false
		}
	}
	return true
}
