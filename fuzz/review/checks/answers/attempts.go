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

// attemptChecks are checks that use up the attempts of a call, and run after most others.
var attemptChecks = []review.Check{
	{
		ID: "RS-TRIES", Name: "attempts that a client brings back", Flow: true, Effects: true, Locks: true, Severity: review.Warning, Category: "security",
		Sent: "an answer that the server asks again about, along the newest states, until the server refuses it; " +
			"then the call without a state, and the first state with the same answer, twice, or, for a text that may be " +
			"a secret, as often as before; answers of a list of which some are asked again about, ten times with the " +
			"first state, and then the one that goes on; an answer that is never " +
			"accepted, until the call is locked, and then with other addresses in headers of proxies, another " +
			"User-Agent and another client name",
		Want:   "refuses the first state as well, if it refuses the call or says that it limits attempts; keeps a lock for every header and client name",
		Source: "CWE-307; CWE-799; CWE-348",
		Impact: "a client has any number of attempts to guess a code: the limit holds only for the newest state, or for " +
			"a name that the client chooses",
		Fix: "count attempts in a store under the user and the call, and look there before reading an answer",
		Run: checkAttempts,
	},
}

// LastChecks returns the checks that leave calls locked or refused.
func LastChecks() []review.Check { return slices.Concat(attemptChecks, limitChecks, grantChecks) }

// maxAttempts is the number of answers after which a call counts as unlimited.
const maxAttempts = 10

func checkAttempts(t *review.T) {
	for _, o := range t.Oracles {
		label := "attempts of " + o.Flow.Target
		f := o.Flow
		f.Rounds = nil
		if !t.Selected(label) || len(t.Findings) > 0 {
			continue
		}
		for _, stage := range o.AskingRounds() {
			windBack(t, o, stage, label)
		}
		if len(t.Findings) > 0 {
			return
		}
		for _, answers := range review.AnswersTo(o.Fresh.Questions) {
			if f.Last = answers; usesAttempts(t, o, f, label) {
				break
			}
		}
		if len(t.Findings) == 0 {
			testGuesses(t, o, label)
		}
	}
	for _, o := range t.Oracles {
		evadeLock(t, o)
	}
	t.SkipUntried("no answer is asked again about until the call is refused, and no wrong answer locks a call")
}

// usesAttempts gives the same answers until the server refuses them, and judges the first state. It
// reports whether the server asked again at first.
func usesAttempts(t *review.T, o *review.Oracle, f client.Flow, label string) bool {
	first := t.Call(f.Call(o.User))
	if first.Kind != client.Asked || first.State == nil {
		return false
	}
	answer := func(state string) client.Answer { return t.Client.Present(t.Context, f, jsondoc.Quote(state), o.User) }
	asks := func(a client.Answer) bool {
		return a.Kind == client.Asked && a.State != nil && a.Class() == first.Class()
	}
	locks := func() bool { return t.Call(f.Call(o.User)).Refused() }
	a := answer(*first.State)
	if !asks(a) {
		return false
	}
	for n := 1; n < maxAttempts && asks(a); n++ {
		a = answer(*a.State)
	}
	if !a.Refused() || !locks() {
		return true
	}
	t.Trials++
	if again := answer(*first.State); asks(again) && locks() && asks(answer(*first.State)) && locks() {
		t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "after the last attempt the call is refused, and its first state still takes answers", Flow: &o.Flow,
			Evidence: fmt.Sprintf("answers %s -> %v at last, and the call again is refused; the first state -> %v", f.Last, a, again), Want: "refused", Got: "asked"})
	}
	return true
}

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

// A choice is a question some of whose usual answers are wrong: the server asks again.
type choice struct {
	*review.T
	flow  client.Flow // without answers to the question
	as    client.User
	class string // of the question
	wrong []json.RawMessage
	right json.RawMessage // goes on
	next  string          // the class of the answer to the right one
}

// windBack gives wrong answers to a question with its first state, more often than the server takes them along
// the newest states, and then the right one. It records a finding if that goes on although the call is locked
// after the wrong ones along the newest states.
func windBack(t *review.T, o *review.Oracle, f client.Flow, label string) {
	c := &choice{T: t, flow: f, as: o.User}
	if len(t.Findings) > 0 || !c.find() || !c.takesAll() {
		return
	}
	n := c.locksAfter()
	if n == 0 {
		return
	}
	t.Trials++
	t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "the call is locked after some wrong answers, and takes any number of them with the first state before the right one", Flow: &o.Flow,
		Evidence: fmt.Sprintf("%d answers such as %s along the newest states: locked; %d with the first state: asked again each time; then %s: goes on", n, c.wrong[0], maxAttempts, c.right),
		Want:     "locked", Got: "asked"})
}

// question returns a new question and its state.
func (c *choice) question() (client.Answer, bool) {
	_, a, err := c.Client.Mint(c.Context, c.flow, c.as)
	return a, err == nil
}

// answer presents a state with answers, and reports whether the server asks again.
func (c *choice) answer(state string, answers json.RawMessage) (a client.Answer, again bool) {
	a = c.Client.Present(c.Context, c.flow.WithLast(answers), jsondoc.Quote(state), c.as)
	return a, a.Kind == client.Asked && a.State != nil && a.Class() == c.class
}

// find tries the usual answers to the question. It reports whether one goes on and others are wrong.
func (c *choice) find() bool {
	q, ok := c.question()
	if !ok {
		return false
	}
	c.class = q.Class()
	for _, answers := range review.AnswersTo(q.Questions) {
		switch a, again := c.answer(*q.State, answers); {
		case again:
			c.wrong = append(c.wrong, answers)
		case c.right == nil && client.Served(a) && a.Kind != client.ToolError:
			c.right, c.next = answers, a.Class()
		}
	}
	return len(c.wrong) > 0 && c.right != nil
}

// takesAll reports whether one state takes maxAttempts wrong answers, and then the right one.
func (c *choice) takesAll() bool {
	q, ok := c.question()
	if !ok {
		return false
	}
	for i := range maxAttempts {
		if _, again := c.answer(*q.State, c.wrong[i%len(c.wrong)]); !again {
			return false
		}
	}
	a, _ := c.answer(*q.State, c.right)
	return a.Class() == c.next
}

// locksAfter returns the number of wrong answers along the newest states after which the call itself is
// refused, or 0.
func (c *choice) locksAfter() int {
	q, ok := c.question()
	for n := 1; ok && n < maxAttempts; n++ {
		a, again := c.answer(*q.State, c.wrong[n%len(c.wrong)])
		if !again {
			first := c.flow
			first.Rounds, first.Last = nil, nil
			if a.Refused() && c.Call(first.Call(c.as)).Refused() {
				return n
			}
			return 0
		}
		q = a
	}
	return 0
}
