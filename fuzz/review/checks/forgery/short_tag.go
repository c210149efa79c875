package forgery

import (
	"fmt"
	"slices"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// Limits of a search for a tag: its time, its exchanges, and the exchanges that are left to other
// checks.
const (
	tagTime     = time.Minute
	tagTries    = 1 << 16
	tagReserved = 2500
)

// forgeShortTag looks for a short tag at the end of tokens in plain text. It alters a time in a token and
// tries all tags for that. It reports whether the tokens have such a tag.
func forgeShortTag(t *review.T) bool {
	f := t.Oracle.Flow.WithLast(nil)
	tag, ok := tokens.ShortTagOf(tokensOfCalls(t, f))
	if !ok {
		return false
	}
	o, reason := t.NewOracle(t.Context, f, t.Oracle.User)
	if reason != "" || o.Presence || !o.Bad.Refused() {
		t.Skip("the token may end in a tag of %d bits, but its refusal cannot be told: %s", tag.Bits(), reason)
		return true
	}
	present := func(text string) review.Verdict {
		return o.Verdict(t.Tried(t.PresentIn(f, jsondoc.Quote(text))))
	}
	began := time.Now()
	token, altered := refusedAlteration(t, f, present)
	if altered == "" {
		t.Skip("the token may end in a tag of %d bits; it holds no time whose change is refused", tag.Bits())
		return true
	}
	each := time.Since(began) / 3 // the calls for one token
	if n := tag.Count(); n > tagTries || each*time.Duration(n) > tagTime || n > t.Client.Left()-tagReserved {
		t.Skip("the token may end in a tag of %d bits; to try all values would take %d calls and %v", tag.Bits(), n, (each * time.Duration(n)).Round(time.Second))
		return true
	}
	body := altered[:len(altered)-tag.Length]
	for i := range tag.Count() {
		forged := body + tag.Value(i)
		if present(forged) != review.Accepted {
			continue
		}
		if present(altered) == review.Refused && present(body+tag.Value((i+1)%tag.Count())) == review.Refused && present(forged) == review.Accepted {
			t.Refute(review.Finding{Case: "the tag", Severity: review.Critical, Issue: fmt.Sprintf("the tag of the token has %d bits: trying all values forges a state", tag.Bits()),
				Evidence: fmt.Sprintf("token %s; with an earlier time: refused; %s, the tag number %d: accepted, twice", client.Short(token, 160), client.Short(forged, 160), i+1),
				Want:     "8 bytes at least", Got: fmt.Sprintf("%d bits", tag.Bits()), Flow: &f})
		}
		return true
	}
	return true
}

// refusedAlteration returns a token that is accepted, and the token with an earlier time, which is refused.
// By chance, a short tag is that of the altered token as well, so it tries three.
func refusedAlteration(t *review.T, f client.Flow, present func(string) review.Verdict) (token, altered string) {
	for range review.Repetitions {
		token, _, err := t.Client.Mint(t.Context, f, t.Oracle.User)
		if altered = tokens.Earlier(token); err != nil || altered == "" {
			return "", ""
		}
		if present(token) == review.Accepted && present(altered) == review.Refused {
			return token, altered
		}
	}
	return "", ""
}

// tokensOfCalls returns tokens of a call, and of the call with other arguments.
func tokensOfCalls(t *review.T, f client.Flow) []string {
	calls := slices.Repeat([]client.Flow{f}, 6) // that a usual letter is absent by chance is unlikely
	for n := 6; n > 0 && len(calls) == 6; n-- {
		for _, arguments := range jsondoc.Series(f.Offer.InputSchema(), f.Arguments, n) {
			calls = append(calls, f.With(arguments))
		}
	}
	if f.Other != nil {
		calls = append(calls, f.With(f.Other))
	}
	var all []string
	for _, call := range calls {
		if token, _, err := t.Client.Mint(t.Context, call, t.Oracle.User); err == nil {
			all = append(all, token)
		}
	}
	return all
}
