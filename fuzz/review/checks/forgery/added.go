package forgery

import (
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/tokens"
)

// presentAdded presents readable states with one more member of a known name. It records a finding if the answer
// shows its value, twice. A reader may ignore members that are not verified.
func presentAdded(t *review.T) {
	if len(t.Findings) > 0 {
		return
	}
	t.ForEachFlow(func(o *review.Oracle) {
		token, _ := t.Mint() // "" has no members
		for _, v := range tokens.Added(token, "73019") {
			if !t.Selected(v.Name) {
				continue
			}
			first, shown := showsMember(t, v.Name, "73019")
			if !shown {
				continue
			}
			if second, again := showsMember(t, v.Name, "84027"); again {
				t.Refute(review.Finding{Case: v.Name, Severity: review.Critical, Flow: &o.Flow, Issue: "a member that is added to a state, under a name that it has, changes the call",
					Evidence: fmt.Sprintf("%s: %v; with another value: %v", v.Name, first, second), Want: "refused or ignored", Got: "accepted"})
				return
			}
		}
	})
}

// showsMember presents a fresh state with a member that has some digits. It reports whether the answer shows these,
// and not the usual answer.
func showsMember(t *review.T, name, digits string) (a client.Answer, shown bool) {
	token, reason := t.Mint()
	if reason != "" {
		return a, false
	}
	for _, v := range tokens.Added(token, digits) {
		if v.Name == name {
			a = t.Tried(t.PresentText(v.Text))
		}
	}
	return a, !a.Refused() && strings.Contains(a.ShownTexts(), digits) && !strings.Contains(t.Oracle.Good.ShownTexts(), digits)
}
