package answers

import (
	"encoding/json"
	"fmt"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

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
