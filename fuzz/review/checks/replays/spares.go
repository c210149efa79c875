package replays

import (
	"fmt"

	"sealab/fuzz/review"
)

// spareCase is the case of limits that are looked at only when a call begins.
const spareCase = "calls that began before"

// refuteSpares records the tools for one use that carried out more calls because these had begun before.
func refuteSpares(t *review.T) {
	if !t.Selected(spareCase) {
		return
	}
	for _, s := range t.Spares {
		t.Trials++
		f := review.Finding{Case: spareCase, Severity: review.Warning, Flow: &s.Flow,
			Issue: "a tool for one use looks at its limit only when a call begins: calls that began before the first was carried out are carried out as well",
			Evidence: fmt.Sprintf("calls of %s %s are begun; one is carried out: %v; a new call: %v; a call that had begun: %v, and a new call is refused again", s.Flow, s.Flow.Arguments,
				s.First, s.Refused, s.Second),
			Want: "refused", Got: "carried out"}
		if !s.Users {
			f.Severity, f.Issue = review.Suggestion, f.Issue+"; a fault unless the limit is on the calls that begin"
		}
		t.Refute(f)
	}
}
