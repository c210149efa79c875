package binding

import (
	"fmt"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// presentAsUnasked presents tokens of the first user as users whose own calls are refused, so that they
// have no flow that a token can be moved to: the second user, and a client without credentials.
func presentAsUnasked(t *review.T) {
	for _, o := range t.Oracles {
		for _, x := range []struct {
			name string
			as   client.User
		}{{"of the first, by the second, who is not asked", client.SecondUser}, {"of the first, by nobody, who is not asked", client.Nobody}} {
			if o.User != client.FirstUser || o.Presence || len(t.Findings) > 0 || !t.Selected(x.name) {
				continue
			}
			evidence := ""
			for range 2 {
				if evidence = acceptedUnasked(t, o, x.as); evidence == "" {
					break
				}
			}
			if evidence == "" {
				continue
			}
			severity, remark := review.Critical, ""
			if !o.Completes() {
				severity, remark = review.Warning, " and gets its question"
			}
			t.Refute(review.Finding{Case: x.name, Severity: severity, Issue: "a token of one user is accepted from another whose own call is refused" + remark,
				Evidence: x.name + ": " + evidence, Want: "refused", Got: "accepted", Flow: &o.Flow})
		}
	}
}

// acceptedUnasked presents a token of the first user as another one. It returns the evidence if the token
// is accepted while the other's own call before and after it, garbage and the answers alone are refused,
// and "" if not.
func acceptedUnasked(t *review.T, o *review.Oracle, as client.User) string {
	call := o.Flow.Call(as)
	before := t.Client.Call(t.Context, call)
	if !before.Refused() {
		return ""
	}
	token, _, err := t.Client.Mint(t.Context, o.Flow, client.FirstUser)
	if err != nil {
		return ""
	}
	a := t.Tried(t.Client.Present(t.Context, o.Flow, jsondoc.Quote(token), as))
	if o.Verdict(a) != review.Accepted || a.Kind != o.Good.Kind || a.Kind == client.Completed && o.Mask != nil && !o.Alike(a) {
		return ""
	}
	for _, control := range []client.Answer{t.Client.Present(t.Context, o.Flow, jsondoc.Quote(review.GarbageState), as),
		t.Client.Call(t.Context, o.Flow.AnswersAlone(as)), t.Client.Call(t.Context, call)} {
		if !control.Refused() {
			return ""
		}
	}
	return fmt.Sprintf("the own call %s -> %v; with the token -> %v", o.Flow.Arguments, before, a)
}
