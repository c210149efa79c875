package answers

import (
	"bytes"
	"fmt"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

// An evasion is a part of requests that a client chooses freely: a header, or the name of the client in
// _meta if the header is "".
type evasion struct{ header, format string }

func (e evasion) String() string {
	if e.header == "" {
		return "the client name in _meta"
	}
	return e.header
}

// evasions returns the parts of requests by which a server may wrongly tell clients apart. The addresses
// are for documentation (RFC 5737).
func evasions() []evasion {
	all := []evasion{{"", "sealab-%d"}, {"User-Agent", "sealab/%d"}, {"Forwarded", "for=198.51.100.%d"}}
	for _, name := range []string{"X-Forwarded-For", "X-Real-IP", "True-Client-IP", "CF-Connecting-IP", "X-Client-IP", "Client-IP", "X-Cluster-Client-IP", "X-Originating-IP", "Fastly-Client-IP"} {
		all = append(all, evasion{name, "198.51.100.%d"})
	}
	return all
}

// maxWrong is the number of wrong answers after which a call counts as one that does not lock.
const maxWrong = 12

// A lockedCall is a flow whose answer is wrong, and the refusal of it once the call is locked.
type lockedCall struct {
	flow   client.Flow
	as     client.User
	locked string
}

// evadeLock gives a wrong answer to a flow that was never carried out, until the call is locked. It
// records a finding if a client that calls itself another one has attempts again, twice.
func evadeLock(t *review.T, o *review.Oracle) {
	label := "the lock of " + o.Flow.Target
	if o.Good.Kind != client.Asked || !t.Selected(label) || len(t.Findings) > 0 {
		return
	}
	x := &lockedCall{wrongFlow(o), o.User, ""}
	if !x.lock(t) {
		return
	}
	for _, e := range evasions() {
		if wrong := x.evades(t, e, 1); wrong != "" && x.evades(t, e, 2) == wrong {
			t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "a call that is locked after wrong answers takes more of them with another value of " + e.String(), Flow: &o.Flow,
				Evidence: fmt.Sprintf("answers %s -> %s; with another value of %s: %s, until it is locked for that value as well", x.flow.Last, x.locked, e, wrong), Want: "locked", Got: "more attempts"})
			return
		}
	}
}

// wrongFlow returns the flow with the first answers to the last questions of an oracle.
func wrongFlow(o *review.Oracle) client.Flow {
	f, questions := o.Flow, o.Fresh.Questions
	if f.Last != nil {
		f.Rounds, questions = f.Answers(), o.Good.Questions
	}
	f.Last = review.AnswersTo(questions)[0]
	return f
}

// lock gives the wrong answer until the call is locked, or is refused in one way for another reason. It
// returns false if the answer is not refused, or the refusals vary.
func (x *lockedCall) lock(t *review.T) bool {
	first, before := "", ""
	for i := range maxWrong {
		a := x.try(t, evasion{}, 0)
		if !a.Refused() && a.Kind != client.Throttled && a.Kind != client.Asked {
			return false
		}
		if before, x.locked = x.locked, outcomeOf(a); i == 0 {
			first = x.locked
		}
	}
	if x.locked != first {
		t.Trials++
	}
	return x.locked == before && x.isLocked(t)
}

func (x *lockedCall) isLocked(t *review.T) bool { return outcomeOf(x.try(t, evasion{}, 0)) == x.locked }

// evades gives the wrong answer with the n-th value of a part of the request until the call is locked for
// that value as well. It returns the first refusal if that is another one, and the call is locked without
// the value before and after.
func (x *lockedCall) evades(t *review.T, e evasion, n int) string {
	first := x.try(t, e, n)
	wrong := outcomeOf(first)
	if wrong == x.locked || !first.Refused() && first.Kind != client.Asked || !x.isLocked(t) {
		return ""
	}
	for range maxWrong {
		switch outcomeOf(x.try(t, e, n)) {
		case wrong:
			continue
		case x.locked:
			if x.isLocked(t) {
				return wrong
			}
		}
		return ""
	}
	return ""
}

// outcomeOf returns the parts of an answer by which a client tells a wrong answer from a locked call.
func outcomeOf(a client.Answer) string {
	if a.Kind == client.Asked {
		return a.Class() + client.Blank(a.QuestionTexts())
	}
	return a.Refusal()
}

// try makes the call and gives the wrong answer, with the n-th value of a part of the requests if n is
// not 0. It does not wait after a rate limit, which may be the lock.
func (x *lockedCall) try(t *review.T, e evasion, n int) client.Answer {
	value := fmt.Sprintf(e.format, n)
	send := func(c client.Call) client.Answer {
		body, _, err := t.Client.NextBody(c)
		if err != nil {
			return client.Answer{}
		}
		w := client.Request{Headers: t.Client.Headers(t.Context, c), Body: body}
		switch {
		case n > 0 && e.header == "":
			w.Body = bytes.Replace(body, []byte(`"sealab-review"`), []byte(`"`+value+`"`), 1)
		case n > 0:
			w.Set(e.header, value)
		}
		return t.Client.RawCall(t.Context, w.Headers, w.Body)
	}
	call := x.flow.Call(x.as)
	a := send(call)
	for _, answers := range x.flow.Answers() {
		if a.Kind != client.Asked {
			break
		}
		a = send(t.Client.Reply(call, a, answers))
	}
	return a
}
