package answers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

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
