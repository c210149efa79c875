package answers

import (
	"encoding/json"
	"fmt"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// acceptAfterDecline declines or cancels a question and then accepts it with the same state. It
// records a finding if that is carried out, twice, although the server means answers to be final: a
// form that answers false has the same result as the decline, and its state is used up.
func acceptAfterDecline(t *review.T) {
	for _, o := range t.Oracles {
		no, ok := falseConfirmation(t, o)
		for _, action := range []string{"decline", "cancel"} {
			label := fmt.Sprintf("%s, then the acceptance, of %s", action, o.Flow.Target)
			declined, reason := review.WithAction(o.Flow.Last, action, false)
			if !ok || reason != "" || len(t.Findings) > 0 || !t.Selected(label) {
				continue
			}
			refusal := o.Flow.WithLast(declined)
			evidence := reopenedEvidence(t, o, no, refusal)
			if evidence == "" || reopenedEvidence(t, o, no, refusal) == "" {
				continue
			}
			severity := review.Warning
			if t.OneTime(o.Flow) {
				severity = review.Critical
			}
			t.Refute(review.Finding{Case: label, Severity: severity, Issue: "after " + action + ", the same state is accepted; after a form that answers false, with the same result, it is refused",
				Evidence: evidence, Want: "refused", Got: "carried out", Flow: &o.Flow})
		}
	}
}

// falseConfirmation returns a flow whose last form answers false to its confirmation. It returns
// false if there is none, or if results cannot be compared.
func falseConfirmation(t *review.T, o *review.Oracle) (client.Flow, bool) {
	f := o.Flow
	if !o.Completes() || o.Mask == nil {
		return f, false
	}
	_, asked, err := t.Client.Mint(t.Context, f, o.User)
	for _, key := range jsondoc.SortedKeys(jsondoc.Members(f.Last)) {
		if name := confirmationOf(f, asked, key); err == nil && name != "" {
			return f.WithAnswer(len(f.Rounds), key, name, json.RawMessage("false")), true
		}
	}
	return f, false
}

// reopenedEvidence returns evidence that an acceptance is refused after no and carried out after
// refusal, or "".
func reopenedEvidence(t *review.T, o *review.Oracle, no, refusal client.Flow) string {
	said, closed := thenAccepted(t, o, no)
	declined, reopened := thenAccepted(t, o, refusal)
	same := said.Kind == client.Completed && declined.Kind == client.Completed && said.SameWords(declined)
	if !same || o.Alike(said) || o.Verdict(closed) != review.Refused || reopened.Kind != client.Completed || !o.Alike(reopened) {
		return ""
	}
	return fmt.Sprintf("answers %s -> %v, then accepted with the same state: %v; answers %s -> %v, then accepted: %v", no.Last, said, closed, refusal.Last, declined, reopened)
}

// thenAccepted presents a fresh token with the answers of a flow, and again with those of o.
func thenAccepted(t *review.T, o *review.Oracle, f client.Flow) (first, second client.Answer) {
	token, _, err := t.Client.Mint(t.Context, f, o.User)
	if err != nil {
		return first, second
	}
	first = t.Tried(t.Client.Present(t.Context, f, jsondoc.Quote(token), o.User))
	return first, t.Tried(t.Client.Present(t.Context, o.Flow, jsondoc.Quote(token), o.User))
}
