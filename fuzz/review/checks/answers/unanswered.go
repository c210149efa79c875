package answers

import (
	"cmp"
	"fmt"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// presentEveryAction presents every action in each round, without and with content. It records a
// finding if the server never answers one.
func presentEveryAction(t *review.T) {
	for _, o := range t.Oracles {
		for _, f := range o.Flow.Stages() {
			for _, action := range []string{"decline", "cancel", "sealab", ""} {
				label := fmt.Sprintf("%s in round %d of %s", cmp.Or(action, "no action"), len(f.Rounds)+1, f.Target)
				for _, content := range []bool{false, true} {
					answers, reason := review.WithAction(f.Last, action, content)
					if reason != "" || len(jsondoc.Members(f.Last)) == 0 || !t.Selected(label) {
						continue
					}
					g := f.WithLast(answers)
					if refuteSilence(t, o, g, label, t.Tried(t.Fresh(g, o.User))) {
						return
					}
				}
			}
		}
	}
}

// refuteSilence records a finding if a is no answer to the last round of f, although the server
// answers the flow of the oracle. The runner repeats it.
func refuteSilence(t *review.T, o *review.Oracle, f client.Flow, label string, a client.Answer) bool {
	if a.Kind != client.Broken || a.Status >= 500 {
		return false
	}
	control := t.Fresh(o.Flow, o.User)
	if control.Kind != o.Good.Kind {
		t.Skip("%s: %v; then the honest flow: %v", label, a, control)
		return false
	}
	t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "an answer is never answered: " + label, Evidence: fmt.Sprintf("answers %s -> %v; then the honest flow: %v", f.Last, a, control),
		Want: "answered", Got: string(client.Broken), Flow: &o.Flow})
	return true
}
