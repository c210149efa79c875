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

// limitText matches texts of servers that say that they limit attempts.
var limitText = regexp.MustCompile(`(?i)\b(attempts?|tries|guess(es)?|(wrong|incorrect|false) (code|pin|password|answer|word)s?|too many|versuche?|tentatives?|intentos?)\b`)

// guessesOf returns answers to questions with texts that a server may compare with a secret: words and digits
// that the forms allow. It returns none if the questions ask for no free text.
func guessesOf(questions map[string]client.Question) []json.RawMessage {
	free := false
	for _, q := range questions {
		for _, s := range jsondoc.Fields(q.Form()) {
			free = free || s.TypeOf() == "string" && !s.Listed()
		}
	}
	if !free {
		return nil
	}
	all := review.AnswersTo(questions)[:1]
	if digits := withDigits(all[0], questions); string(digits) != string(all[0]) {
		all = append(all, digits)
	}
	return all
}

// withDigits returns answers in which the free texts of forms are digits.
func withDigits(answers json.RawMessage, questions map[string]client.Question) json.RawMessage {
	all := jsondoc.Members(answers)
	for key, q := range questions {
		content := jsondoc.Members(jsondoc.At(all[key], "content"))
		for name, s := range jsondoc.Fields(q.Form()) {
			n := max(4, s.MinLength)
			if s.MaxLength != nil {
				n = min(n, *s.MaxLength)
			}
			if v := jsondoc.Quote(strings.Repeat("7", n)); s.TypeOf() == "string" && !s.Listed() && content != nil && jsondoc.AllowsText(s.Raw, v) {
				content[name] = v
			}
		}
		if content != nil {
			all[key] = jsondoc.WithMember(all[key], "content", jsondoc.Object(content))
		}
	}
	return jsondoc.Object(all)
}

// A guessing gives one wrong text to a flow along the newest states, until the server refuses it.
type guessing struct {
	*review.T
	flow   client.Flow
	as     client.User
	first  client.Answer   // the question
	states []string        // those that took the wrong text; the server refused it with the last one
	told   []client.Answer // the answers to it
}

// testGuesses gives wrong texts to the questions of a flow until the server refuses them. It records a finding
// if the first state of a round takes as many again, and the last one takes none, twice.
func testGuesses(t *review.T, o *review.Oracle, label string) {
	for _, stage := range o.AskingRounds() {
		if _, question, err := t.Client.Mint(t.Context, stage, o.User); err == nil && takesGuesses(t, o, stage, question, label) {
			return
		}
	}
}

// takesGuesses gives wrong texts to the question of a round. It reports whether it has recorded a finding.
func takesGuesses(t *review.T, o *review.Oracle, f client.Flow, question client.Answer, label string) bool {
	for _, answers := range guessesOf(question.Questions) {
		f.Last = answers
		var g *guessing
		shown := 0
		for shown < 2 {
			if g = (&guessing{T: t, flow: f, as: o.User}); !g.isRefused() || !g.saysLimit() || !g.beginsAnew() {
				break
			}
			shown++
		}
		if shown == 2 {
			n := len(g.told)
			t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "after the last attempt is refused, the first state takes as many attempts again", Flow: &o.Flow,
				Evidence: fmt.Sprintf("%d answers %s along the newest states -> %v at last; then %d with the first state -> each time %s", n, f.Last, g.told[n-1], n, client.Short(g.told[0].ShownTexts(), 120)),
				Want:     "refused", Got: "asked"})
			return true
		}
	}
	return false
}

// guess presents a state with the wrong text.
func (g *guessing) guess(state string) client.Answer {
	return g.Client.Present(g.Context, g.flow, jsondoc.Quote(state), g.as)
}

// asks reports whether an answer is the first question in other words, as after an attempt. A server that
// begins the flow anew asks in the same words.
func (g *guessing) asks(a client.Answer) bool {
	return a.Kind == client.Asked && a.State != nil && a.Class() == g.first.Class() && a.ShownTexts() != g.first.ShownTexts()
}

// isRefused gives the wrong text along the newest states and reports whether the server takes it at first and
// refuses it within maxAttempts.
func (g *guessing) isRefused() bool {
	var err error
	if _, g.first, err = g.Client.Mint(g.Context, g.flow.WithLast(nil), g.as); err != nil || g.first.State == nil {
		return false
	}
	for state := g.first.State; len(g.told) < maxAttempts; {
		a := g.guess(*state)
		g.states, g.told = append(g.states, *state), append(g.told, a)
		if !g.asks(a) {
			return len(g.told) > 1 && a.Refused()
		}
		state = a.State
	}
	return false
}

// saysLimit reports whether the server says that it limits attempts. Other forms may be given up after
// invalid answers.
func (g *guessing) saysLimit() bool {
	last := g.told[len(g.told)-1]
	return limitText.MatchString(last.Message) || limitText.MatchString(g.told[0].ShownTexts())
}

// beginsAnew reports whether the first state takes as many attempts as before, each as the first one, while
// the last state takes none before and after.
func (g *guessing) beginsAnew() bool {
	g.Trials++
	last := g.states[len(g.states)-1]
	if !g.guess(last).Refused() {
		return false
	}
	for range g.told {
		if a := g.guess(g.states[0]); !g.asks(a) || a.ShownTexts() != g.told[0].ShownTexts() {
			return false
		}
	}
	return g.guess(last).Refused()
}
