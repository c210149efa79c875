package replays

import (
	"fmt"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// replayUnderOtherName presents used tokens to the tool under its other names. Some servers remember a token
// together with the name that was called.
func replayUnderOtherName(t *review.T) {
	const name = "used, under another name"
	own := t.Oracle.Flow
	if !t.OneTime(t.Oracle.Flow) || len(t.Findings) > 0 || !t.Oracle.Completes() || own.Method != "tools/call" || !t.Selected(name) {
		return
	}
	for _, tool := range t.Report.Server.Tools {
		if !client.AreTwins(own.Offer, tool) || !jsondoc.Fits(tool.InputSchema(), own.Arguments) || len(t.Findings) > 0 {
			continue
		}
		f := own
		f.Target, f.Offer = tool.Name, tool
		evidence, is := runsUnderOtherName(t, f)
		if !is || !t.PresentIn(f, jsondoc.Quote(review.GarbageState)).Refused() || t.Call(f.AnswersAlone(t.Oracle.User)).Kind == client.Completed {
			continue
		}
		t.Refute(review.Finding{Case: name, Severity: review.Critical, Issue: "a used token is accepted again by another name of its tool",
			Evidence: evidence, Want: "refused", Got: "accepted"})
	}
}

// runsUnderOtherName presents used tokens in the flow of another name. It reports whether the call is carried
// out, and the tokens are refused in their own flow, twice.
func runsUnderOtherName(t *review.T, f client.Flow) (evidence string, is bool) {
	for range 2 {
		token, spent := t.UsedToken()
		if !spent {
			return "", false
		}
		a := t.Tried(t.PresentIn(f, jsondoc.Quote(token)))
		if a.Kind != client.Completed || !t.Oracle.Alike(a) && !t.Oracle.ResemblesGood(a) || t.VerdictOn(token) != review.Refused {
			return "", false
		}
		evidence = fmt.Sprintf("the token %s at %s: accepted, then refused; at %s -> %v", client.Short(token, 100), t.Oracle.Flow, f, a)
	}
	return evidence, true
}
