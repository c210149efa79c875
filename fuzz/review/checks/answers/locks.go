package answers

import (
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
