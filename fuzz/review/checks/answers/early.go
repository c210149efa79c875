package answers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// earlyChecks are the checks of effects that do not wait for the last answer.
var earlyChecks = []review.Check{
	{
		ID: "RS-EARLY", Name: "an effect before the last answer", Flow: true, Effects: true, Severity: review.Warning, Category: "security",
		Sent: "calls that only read, before and after the last question of a flow, after a decline of it, and after an " +
			"acceptance of another one, all twice",
		Want:   "has the effect after the acceptance alone, or takes it back after the decline",
		Source: "revision 2026-07-28, client/elicitation; CWE-841",
		Impact: "the tool has its effect although the user has not agreed, or has declined",
		Fix:    "act in the round that receives the last answer, and keep what earlier rounds prepare in the state",
		Run:    checkEarlyEffects,
	},
}

// journalText matches texts of tools that may list calls which wait or have ended in any way.
var journalText = regexp.MustCompile(`(?i)\b(log|logs|logged|audit|histor\w*|events?|activit\w*|request\w*|pending|drafts?|open|opened|waiting|begun|started|questions?|attempts?|declined|notif\w*|cart|basket|held|hold|holds|reserv\w*)\b`)

// checkEarlyEffects judges flows by what calls that only read show.
func checkEarlyEffects(t *review.T) {
	for _, o := range t.Oracles {
		if !o.Completes() || o.Flow.Method != "tools/call" || o.Flow.Offer.IsReadOnly() {
			continue
		}
		for _, call := range steadyReadings(t, o.User) {
			e := effects{t, o, call}
			if evidence := e.comeEarly(); evidence != "" && t.Selected(o.Flow.Target) {
				t.Refute(review.Finding{Case: o.Flow.Target, Severity: review.Warning, Issue: "the tool has its effect before its last question is answered, and keeps it after a decline",
					Evidence: evidence, Want: "no change", Got: "changed", Flow: &o.Flow})
				return
			}
		}
	}
	t.SkipUntried("no call that only reads shows the effect of a flow%s", t.NotCalled())
}

// steadyReadings returns calls that only read, and whose answers are the same twice. They do not claim to list calls.
func steadyReadings(t *review.T, as client.User) []client.Call {
	var all []client.Call
	for _, tool := range t.Lookups() {
		call := t.FlowOf(tool).Call(as)
		if first := t.Call(call); !journalText.MatchString(tool.About()) && first.Kind == client.Completed && t.Call(call).Text == first.Text {
			all = append(all, call)
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// effects are the effects of a flow that a call shows.
type effects struct {
	*review.T
	oracle *review.Oracle
	call   client.Call
}

// comeEarly returns evidence that entries appear with the last question, stay after a decline, and that an acceptance
// adds none, twice.
func (e effects) comeEarly() (evidence string) {
	declined, reason := review.WithAction(e.oracle.Flow.Last, "decline", false)
	if reason != "" {
		return ""
	}
	for range 2 {
		before := e.entries()
		asked, added := e.ask(before)
		if e.Trials++; asked == "" || len(added) == 0 {
			return ""
		}
		refused := e.Client.Present(e.Context, e.oracle.Flow.WithLast(declined), jsondoc.Quote(asked), e.oracle.User)
		if refused.Kind == client.Asked || e.oracle.Alike(refused) || !slices.Equal(newEntries(before, e.entries()), added) {
			return ""
		}
		again, _ := e.ask(e.entries())
		between := e.entries()
		accepted := e.Client.Present(e.Context, e.oracle.Flow, jsondoc.Quote(again), e.oracle.User)
		if accepted.Kind != client.Completed || !slices.Equal(between, e.entries()) {
			return ""
		}
		evidence = fmt.Sprintf("%s shows %q after the last question; a decline -> %v, and it stays; an acceptance of another call -> %v, and nothing changes", e.call.Target, strings.Join(added, ", "), refused, accepted)
	}
	return evidence
}

// ask makes the call up to its last question. It returns the state and the entries that are new since before.
func (e effects) ask(before []string) (state string, added []string) {
	state, _, _ = e.Client.Mint(e.Context, e.oracle.Flow, e.oracle.User) // "" without a question
	return state, newEntries(before, e.entries())
}

// entries returns the lines and values of the call's answer.
func (e effects) entries() []string {
	return strings.FieldsFunc(e.Call(e.call).Text, func(r rune) bool { return strings.ContainsRune("\n\r{}[];", r) })
}

// newEntries returns the entries that occur more often than before.
func newEntries(before, after []string) []string {
	rest := slices.Clone(before)
	return slices.DeleteFunc(slices.Clone(after), func(entry string) bool {
		i := slices.Index(rest, entry)
		if i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
		return i >= 0
	})
}
