package state

import (
	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// presentStamped presents changed states with the tags that tools return for any text. Some servers
// sign both with one key.
func presentStamped(t *review.T) {
	if t.Oracle.Presence || len(t.Findings) > 0 {
		return
	}
	present := func(o *review.Oracle) {
		for _, f := range stampingCalls(t, o.Token) {
			presentVariants(t, review.Critical, "a changed state under the tag that "+f.Target+" gives", func(token string) []tokens.Variant {
				return tokens.Stamped(token, func(message string) string { return stampOf(t, f, message) })
			})
		}
	}
	present(t.Oracle)
	t.ForOtherFlows(present)
}

// stampOf returns the texts that a call gives for a text, or "".
func stampOf(t *review.T, f client.Flow, text string) string {
	arguments := jsondoc.WithText(f.Arguments, f.Offer.InputSchema(), text)
	if arguments == nil {
		return "" // too long
	}
	a := t.Call(f.With(arguments).Call(t.Oracle.User))
	if a.Kind != client.Completed {
		return ""
	}
	return a.Text
}

// stampingCalls returns calls that take a text, do not ask, and return a text as long as a tag of the
// token, which depends on theirs.
func stampingCalls(t *review.T, token string) []client.Flow {
	var all []client.Flow
	if len(tokens.Views(token)) == 0 {
		return nil
	}
	for _, tool := range append(t.Readers(), t.Changers()...) {
		f := t.FlowOf(tool)
		if len(all) == review.MaxTestedCalls || !review.TakesText(f) {
			continue
		}
		one := t.Word()
		if text := stampOf(t, f, one); tokens.HasStamp(text, token) && text == stampOf(t, f, one) && text != stampOf(t, f, t.Word()) {
			all = append(all, f)
		}
	}
	return all
}
