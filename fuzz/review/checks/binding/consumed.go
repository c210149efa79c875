package binding

import (
	"fmt"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// useUpElsewhere presents the states of each flow with other arguments first.
func useUpElsewhere(t *review.T) {
	for _, o := range t.Oracles {
		if o.Flow.Other != nil && len(t.Findings) == 0 {
			useUp(t, "a state of "+o.Flow.Target+" after other arguments", review.Move{Source: o.Flow, Target: o.Flow.With(o.Flow.Other), SourceUser: t.Oracle.User, TargetUser: t.Oracle.User})
		}
	}
}

// useUp presents the states of a flow in another flow, which must refuse them, and then in their own. It
// records a finding if their own flow refuses them then, twice, but not after garbage in the other flow.
func useUp(t *review.T, name string, m review.Move) {
	if len(t.Findings) > 0 || !t.Selected(name) {
		return
	}
	o, reason := t.NewOracle(t.Context, m.Source, m.SourceUser)
	if reason != "" || !o.Bad.Refused() {
		return
	}
	evidence := ""
	for range 2 {
		foreign, lost := afterAttempt(t, o, m, true)
		if !foreign.Refused() || !lost.Refused() || lost.Class() != o.Bad.Class() {
			return
		}
		if garbage, kept := afterAttempt(t, o, m, false); !garbage.Refused() || o.Verdict(kept) != review.Accepted {
			return
		}
		evidence = fmt.Sprintf("%s: a state of %s -> %v; then in its own place -> %v; after garbage instead: accepted", name, m.Source, foreign, lost)
	}
	// Who presents the state had to get hold of it, and a server may give it up on purpose.
	t.Refute(review.Finding{Case: name, Severity: review.Suggestion, Issue: "a state that is refused elsewhere is used up: its owner cannot go on",
		Evidence: evidence, Want: "accepted in its own place", Got: "refused", Flow: &m.Source})
}

// afterAttempt presents a fresh state, or garbage, at the target of a move, and then the state in its own
// flow. It returns both answers.
func afterAttempt(t *review.T, o *review.Oracle, m review.Move, foreign bool) (attempt, own client.Answer) {
	token, _, err := t.Client.Mint(t.Context, m.Source, m.SourceUser)
	if err != nil {
		return attempt, own
	}
	presented := review.GarbageState
	if foreign {
		presented = token
	}
	attempt = t.Tried(t.Client.Present(t.Context, m.Target, jsondoc.Quote(presented), m.TargetUser))
	return attempt, t.Client.Present(t.Context, o.Flow, jsondoc.Quote(token), o.User)
}
