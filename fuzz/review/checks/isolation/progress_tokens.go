package isolation

import (
	"fmt"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// mixesByProgressToken completes two flows with other arguments, of two users if they are known, whose last requests have
// one progressToken. Clients choose these tokens, often numbers from 1. It records a finding if the second flow gets the
// result of the first, and its own without the token, both twice.
func mixesByProgressToken(t *review.T) bool {
	second := client.FirstUser
	if len(t.Options.Target.Second) > 0 {
		second = client.SecondUser
	}
	for _, o := range t.Oracles {
		label := "one progressToken: " + o.Flow.Target
		if !o.Completes() || o.Flow.Other == nil || !t.Selected(label) {
			continue
		}
		last := func(f client.Flow, as client.User, token string) client.Answer {
			state, _, err := t.Client.Mint(t.Context, f, as)
			if err != nil {
				return client.Answer{}
			}
			call := t.Client.Presenting(f, jsondoc.Quote(state), as)
			call.Progress = token
			return t.Tried(t.Call(call))
		}
		other := o.Flow.With(o.Flow.Other)
		for n := range 2 {
			token := string(jsondoc.Quote(t.Word()))
			first := last(o.Flow, client.FirstUser, token)
			mixed := last(other, second, token)
			own := last(other, second, "")
			if first.Kind != client.Completed || own.Kind != client.Completed || mixed.Text != first.Text || mixed.Text == own.Text || own.Text == "" {
				break
			}
			if n == 1 {
				f := review.NewFinding(label, review.Critical, "a call gets the result of another one whose last request has the same progressToken", mixed)
				f.Evidence = fmt.Sprintf("the first with progressToken %s -> %v; the second with it -> %v; the second without it -> %v; %s", token, first, mixed, own, f.Evidence)
				t.Refute(f)
				return true
			}
		}
	}
	return false
}
