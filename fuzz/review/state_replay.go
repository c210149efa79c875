package review

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"sealab/internal/rawmcp"
)

func replayed(t *T) {
	t.prefer(t.r.oneTime)
	if t.o.good.Kind != completed && !t.oneTime() {
		t.skip("the round does not run the tool to its end")
		return
	}
	token, reason := t.mint()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	one := t.r.client.present(t.ctx, t.o.flow, quote(token), t.o.user)
	two := t.r.client.present(t.ctx, t.o.flow, quote(token), t.o.user)
	t.seen(variant{name: "twice"}, two)
	if !one.conclusive() || !two.conclusive() || t.o.verdict(one) != accepted {
		t.skip("control: %v, then %v", one, two)
		return
	}
	if t.o.verdict(two) != accepted {
		t.atOnce()
		t.usedOtherwise(token)
		t.begunAgain()
		t.forgotten(token)
		return
	}
	f := Finding{Case: "twice", Severity: Suggestion, Issue: "a token is accepted twice (a property; it is a fault if the tool must run once)",
		Evidence: fmt.Sprintf("first %v, then %v", one, two), Want: "accepted once", Got: "accepted twice"}
	if t.oneTime() {
		f.Severity, f.Issue = Critical, "a token of a tool for one use is accepted twice"
	}
	t.refute(f)
}

// usedOtherwise presents a used token with one more answer: a server may remember the
// request and not the token.
func (t *T) usedOtherwise(used string) {
	if !t.oneTime() || len(t.findings) > 0 || t.o.flow.Last == nil || t.o.good.Kind != completed {
		return
	}
	f := t.o.flow
	f.Last = object(with(members(f.Last), "sealab-extra", json.RawMessage(`{"action":"decline"}`)))
	a := t.r.client.present(t.ctx, f, quote(used), t.o.user)
	if t.seen(variant{name: "used"}, a); a.Kind == completed && t.o.verdict(a) == accepted && t.o.alike(a) {
		t.refute(Finding{Case: "used, with one more answer", Severity: Critical, Issue: "a used token is accepted again with other answers",
			Evidence: fmt.Sprintf("the same answers again: refused; answers %s -> %v", f.Last, a), Want: "refused", Got: "accepted"})
	}
}

// begunAgain goes from one token of the first round to the end, twice.
func (t *T) begunAgain() {
	if !t.oneTime() || len(t.findings) > 0 || len(t.o.flow.Rounds) == 0 || t.o.good.Kind != completed {
		return
	}
	token, _, err := t.r.client.mint(t.ctx, t.o.flow.stages()[1], t.o.user)
	if err != nil {
		return
	}
	one, two := t.finished(token), t.finished(token)
	if t.seen(variant{name: "begun again"}, two); one.Kind == completed && two.Kind == completed && t.o.alike(one) && t.o.alike(two) {
		t.refute(Finding{Case: "from the first round", Severity: Critical, Issue: "one token of the first round of a tool for one use leads to its end twice",
			Evidence: fmt.Sprintf("first %v, then %v", one, two), Want: "refused", Got: "accepted"})
	}
}

// finished answers the rounds of the flow from a token of the first one on.
func (t *T) finished(token string) Answer {
	f := t.o.flow
	var a Answer
	for _, f.Last = range append(slices.Clone(t.o.flow.Rounds), t.o.flow.Last) {
		if a = t.r.client.present(t.ctx, f, quote(token), t.o.user); a.Kind != asked || a.State == nil {
			break
		}
		t.r.client.minted[*a.State], token = a.Questions, *a.State
	}
	return a
}

// manyOthers is the number of tokens that are used before a used one is presented again.
const manyOthers = 16

// forgotten presents a used token again after others were used.
func (t *T) forgotten(used string) {
	if !t.oneTime() || len(t.findings) > 0 {
		return
	}
	for range manyOthers {
		token, reason := t.mint()
		if reason != "" || t.o.verdict(t.r.client.present(t.ctx, t.o.flow, quote(token), t.o.user)) != accepted {
			return
		}
	}
	a := t.r.client.present(t.ctx, t.o.flow, quote(used), t.o.user)
	if t.seen(variant{name: "used"}, a); t.o.verdict(a) == accepted {
		t.refute(Finding{Case: "used, after others", Severity: Critical, Issue: fmt.Sprintf("a used token is accepted again after %d others were used", manyOthers),
			Evidence: fmt.Sprintf("accepted, refused, and after %d others: %v", manyOthers, a), Want: "refused", Got: "accepted"})
	}
}

// crowd is the number of connections that present one token at once.
const crowd = 8

// atOnce presents one token over several connections at once: one may be accepted.
func (t *T) atOnce() {
	if t.r.client.http == nil {
		return
	}
	severity := Warning
	if t.oneTime() {
		severity = Critical
	}
	token, reason := t.mint()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	call := t.o.flow.call(t.o.user)
	call.State, call.Answers = quote(token), t.o.flow.Last
	answers := t.together(slices.Repeat([]Call{call}, crowd))
	n := 0
	for _, a := range answers {
		if a.Kind != "" && t.o.verdict(a) == accepted {
			n++
		}
	}
	t.trials++
	if n > 1 {
		t.refute(Finding{Case: "eight at once", Severity: severity, Issue: fmt.Sprintf("a token for one use is accepted %d times of %d at once", n, crowd),
			Evidence: fmt.Sprintf("one after the other: accepted, then refused; %d at once: accepted %d times", crowd, n), Want: "accepted once", Got: "accepted more than once"})
	}
}

// together sends calls at once, each over a connection of its own. One that could not be sent
// has an answer without a kind.
func (t *T) together(calls []Call) []Answer {
	c := t.r.client
	answers := make([]Answer, len(calls))
	var all sync.WaitGroup
	for i, call := range calls {
		c.id++
		id := c.id
		body, err := c.body(call, id)
		if err != nil || c.take(t.ctx) != nil {
			t.skip("%d requests at once could not be sent", len(calls))
			break
		}
		headers := c.callHeaders(t.ctx, call)
		all.Go(func() {
			answers[i] = read(c.http.Do(t.ctx, rawmcp.Request{Verb: "POST", Path: c.http.Path(), Headers: headers, Body: body, Done: isAnswer(id)}), id)
		})
	}
	all.Wait()
	return answers
}
