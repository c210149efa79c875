package answers

import (
	"fmt"
	"slices"

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
