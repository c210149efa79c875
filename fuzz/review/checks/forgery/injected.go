package forgery

import (
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

// memberForms are the forms of the members of a state that a server may join without escapes, with the name for
// %s.
var memberForms = []string{"&%s=1", ";%s=1", "|%s=1", ",%s=1", "\n%s=1", "\n%s: 1", `","%s":"1`}

// memberNames are usual names of members that a server verifies.
var memberNames = []string{"exp", "expires", "sub", "user", "bind", "tool", "step"}

// presentInjected gives texts that hold the members of a state to calls with questions. It records a finding if
// the state after the text is refused, and that after a text with members of other names is not, twice.
func presentInjected(t *review.T) {
	const name = "members in a text"
	if len(t.Findings) > 0 || !t.Selected(name) {
		return
	}
	for _, o := range t.Oracles {
		for _, p := range textPlaces(t, o) {
			for _, form := range memberForms {
				if evidence := injects(t, o, p, form); evidence != "" {
					t.Refute(review.Finding{Case: name, Severity: review.Critical, Flow: &o.Flow, Issue: "the state holds a text without escapes, which can add members such as a user or a time to it",
						Evidence: evidence, Want: "accepted", Got: "refused"})
					return
				}
			}
		}
	}
}

// membersText returns a text with members of usual names, or, of the same length, of others.
func membersText(form string, others bool) string {
	text := "probe"
	for i, name := range memberNames {
		if others {
			name = strings.Repeat("z", len(name)-1) + string(rune('a'+i))
		}
		text += fmt.Sprintf(form, name)
	}
	return text
}

// injects reports how the members of a text in a place of a flow are read from its state, or "".
func injects(t *review.T, o *review.Oracle, p textPlace, form string) (evidence string) {
	for range 2 {
		accepted, _ := presentText(t, o, p, membersText(form, true))
		judged, refused := presentText(t, o, p, membersText(form, false))
		t.Trials++
		if !accepted.Conclusive() || accepted.Refused() || o.Verdict(accepted) != review.Accepted || !refused {
			return ""
		}
		evidence = fmt.Sprintf("text %q: %v; text %q: %v", membersText(form, true), accepted, membersText(form, false), judged)
	}
	return evidence
}

// presentText walks a flow with a text in a place to its end. It reports whether a state after the text is
// refused.
func presentText(t *review.T, o *review.Oracle, p textPlace, text string) (a client.Answer, refused bool) {
	f, ok := p.with(text)
	if !ok {
		return a, false
	}
	stage := f
	stage.Rounds, stage.Last = f.Rounds[:p.after], nil
	_, question, err := t.Client.Mint(t.Context, stage, o.User)
	if err != nil {
		return a, false // the text itself is refused
	}
	a, _ = t.Client.Continue(t.Context, f.Call(o.User), question, f.Answers()[p.after:])
	return a, a.Refused()
}
