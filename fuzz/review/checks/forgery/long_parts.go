package forgery

import (
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// partLengths are the lengths of texts that make long states, in characters.
var partLengths = []int{400, 1500, 4000}

// spliceLongTokens joins parts of the tokens of two long texts, because a server may seal long states in
// parts.
func spliceLongTokens(t *review.T) {
	own, reason := t.Oracle, t.Reason
	defer func() { t.Oracle, t.Reason = own, reason }()
	for _, o := range t.Oracles {
		places := textPlaces(t, o)
		for _, n := range partLengths {
			one, two := longFlows(places, strings.Repeat("a", n)), longFlows(places, strings.Repeat("b", n))
			if len(two) < len(one) || len(t.Findings) > 0 {
				break
			}
			for i := range one {
				spliceFlows(t, o, one[i], two[i])
				spliceFlows(t, o, two[i], one[i])
			}
		}
	}
}

// A textPlace is a place of a flow that takes any text: in an argument, or in an answer before the last.
type textPlace struct {
	after int // the number of rounds up to that with the text
	// with returns the flow with a text. It reports false if the place takes no text of that length.
	with func(text string) (client.Flow, bool)
}

// textPlaces returns the places of a flow that may take a text.
func textPlaces(t *review.T, o *review.Oracle) []textPlace {
	all := []textPlace{{0, func(text string) (client.Flow, bool) {
		args := o.Flow.ArgumentsWith(text)
		return o.Flow.With(args), args != nil
	}}}
	for i, answers := range o.Flow.Rounds {
		earlier := o.Flow
		earlier.Rounds = o.Flow.Rounds[:i]
		_, question, err := t.Client.Mint(t.Context, earlier, o.User)
		if err != nil {
			break
		}
		for _, key := range jsondoc.SortedKeys(jsondoc.Members(answers)) {
			content, form := jsondoc.Object(o.Flow.Content(i, key)), question.Questions[key].Form()
			all = append(all, textPlace{i + 1, func(text string) (client.Flow, bool) {
				long := jsondoc.WithText(content, form, text)
				return o.Flow.WithContent(i, key, jsondoc.Members(long)), long != nil
			}})
		}
	}
	return all
}

// longFlows returns the flow with a long text in each place that takes it.
func longFlows(places []textPlace, text string) []client.Flow {
	var all []client.Flow
	for _, p := range places {
		if f, ok := p.with(text); ok {
			all = append(all, f)
		}
	}
	return all
}

// maxSplices is the number of splices of two long tokens.
const maxSplices = 24

// spliceFlows presents splices of the tokens of two flows, if these have more parts than a token of the
// oracle.
func spliceFlows(t *review.T, o *review.Oracle, one, two client.Flow) {
	token, _, err := t.Client.Mint(t.Context, one, o.User)
	if err != nil || len(t.Findings) > 0 || partsOf(token) <= partsOf(o.Token) {
		return
	}
	long, skipped := t.NewOracle(t.Context, one, o.User)
	if skipped != "" || long.Presence {
		return
	}
	t.Oracle = long
	presentVariants(t, review.Critical, "parts of two long tokens joined", func(token string) []tokens.Variant {
		other, _, err := t.Client.Mint(t.Context, two, o.User)
		if err != nil {
			return nil
		}
		all := append(tokens.Joints(token, other), tokens.Splices(token, other)...)
		return tokens.Some(all, maxSplices)
	})
}

// partsOf returns the number of encoded parts of a token.
func partsOf(token string) int { return len(tokens.CodedSegments(tokens.Segments(token))) }
