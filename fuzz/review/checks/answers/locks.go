package answers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// maxMended is the number of members of a flow whose invalid answers are mended. A server may lock a
// flow after several wrong answers.
const maxMended = 2

// mendInvalidAnswers presents one answer that its form excludes, and then the right ones or a
// cancellation. It records a finding if calls that completed before no longer do.
func mendInvalidAnswers(t *review.T) {
	for _, o := range t.Oracles {
		label := "calls of " + o.Flow.Target + " after an invalid answer"
		if !o.Completes() || len(t.Findings) > 0 || !t.Selected(label) {
			continue
		}
		for _, stage := range invalidStages(t, o) {
			for _, end := range []string{"accept", "cancel"} {
				after, severity := locksFlow(t, o, o.Flow, stage, end), review.Severity("")
				if after != "" {
					severity = severityOfLock(t, o, stage, end)
				}
				if severity == "" {
					continue
				}
				t.Refute(review.Finding{Case: label, Severity: severity, Issue: "after an answer that its form excludes, calls that completed before are refused",
					Evidence: fmt.Sprintf("%v; answers %s, then %s; the honest flow again: %s", o.Good, client.Short(string(stage.Last), 160), end, after),
					Want:     "completed, as before", Got: "locked", Flow: &o.Flow})
				return
			}
		}
	}
}

// invalidStages returns flows whose last answers have a member that its form excludes. Texts and
// numbers beyond their bounds come first.
func invalidStages(t *review.T, o *review.Oracle) []client.Flow {
	var bounded, typed []client.Flow
	for _, f := range o.Flow.Stages() {
		round := len(f.Rounds)
		for _, key := range jsondoc.SortedKeys(jsondoc.Members(f.Last)) {
			content := f.Content(round, key)
			for _, name := range jsondoc.SortedKeys(content) {
				if all := invalidValues(memberSchema(t, f, o, key, name), content[name]); len(all) > 0 {
					bounded = append(bounded, f.WithAnswer(round, key, name, all[len(all)-1]))
				} else {
					typed = append(typed, f.WithAnswer(round, key, name, json.RawMessage(`[{"sealab":1}]`)))
				}
			}
		}
	}
	all := append(bounded, typed...)
	return all[:min(len(all), maxMended)]
}

// severityOfLock rates that an invalid answer locks a flow: a warning if it also locks the flow with other
// arguments or, if they do not complete, that of the other user. It returns "" if it does not lock them. A
// call of a user may be refused because an account is empty.
func severityOfLock(t *review.T, o *review.Oracle, stage client.Flow, end string) review.Severity {
	again, arguments := o, o.Flow.Other
	if arguments == nil || t.Fresh(o.Flow.With(arguments), o.User).Kind != client.Completed {
		if len(t.Options.Target.Second) == 0 {
			return review.Warning
		}
		arguments = o.Flow.Arguments
		if again = completingAs(t, o.Flow, client.SecondUser); again == nil {
			return review.Suggestion
		}
	}
	if locksFlow(t, again, o.Flow.With(arguments), stage.With(arguments), end) == "" {
		return ""
	}
	return review.Warning
}

// completingAs returns the oracle of a flow that completes as a user, or nil.
func completingAs(t *review.T, f client.Flow, as client.User) *review.Oracle {
	o, reason := t.NewOracle(t.Context, f, as)
	if reason != "" || o.Good.Kind != client.Completed {
		return nil
	}
	return o
}

// tellsLimit matches refusals of servers that rightly limit attempts or calls, or ask for time.
var tellsLimit = regexp.MustCompile(`(?i)attempt|wrong|too many|quota|limit|exceed|used up|exhaust|\bleft\b|sold|stock|\bwait\b|seconds?\b|minutes?\b|blocked|locked (out|for|until)`)

// locksFlow presents the invalid answer of stage and mends it. It returns the refusal of later calls
// of f, or "" if they complete, or did not complete before.
func locksFlow(t *review.T, o *review.Oracle, f, stage client.Flow, end string) string {
	for range 3 {
		if t.Fresh(f, o.User).Kind != client.Completed {
			return ""
		}
	}
	a := t.Tried(t.Fresh(stage, o.User))
	if a.Kind != client.Asked && !a.Refused() {
		return ""
	}
	endFlow(t, o, stage, a, end)
	for _, pause := range []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second} {
		if t.Client.Clock.Sleep(t.Context, pause) != nil {
			return ""
		}
		if a = t.Walk(f, o.User); a.Kind != client.ToolError && a.Kind != client.Failed && a.Kind != client.Broken || tellsLimit.MatchString(a.Message) {
			return ""
		}
	}
	return a.String()
}

// endFlow answers the question in a, which follows the rounds of f, and later ones with an action.
func endFlow(t *review.T, o *review.Oracle, f client.Flow, a client.Answer, action string) {
	rest := o.Flow.Answers()[len(f.Rounds):]
	for i := range rest {
		if action != "accept" {
			rest[i], _ = review.WithAction(rest[i], action, false)
		}
	}
	t.Client.Continue(t.Context, f.Call(o.User), a, rest)
}

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
