package refusals

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
	"sealab/internal/rawmcp"
)

// expiryChecks is the check of how long a state is accepted.
var expiryChecks = []review.Check{
	{
		ID: "RS-EXP", Name: "a state that does not expire", Once: true, Flow: true, Severity: review.Warning, Category: "security",
		Sent: "a token that is older than its lifetime (--ttl, or the time in a readable token); over HTTP once " +
			"more with a Date header of the time at which it was minted; with --effects also a token that was " +
			"presented before it expired, and an expired token without answers",
		Want: "accepts a token within its lifetime and refuses it afterwards, with the same refusal as for an " +
			"altered token",
		Source: review.SourceMRTR + ", SHOULD expire",
		Impact: "a leaked token, or a consent given long ago, can be used at any later time",
		Fix: "put the time of issue or expiry into the authenticated part of the token, and compare it with the " +
			"server's clock",
		Run: checkExpiry,
	},
}

// maxReadWait is how long a review waits for an expiry time that it read in a token.
const maxReadWait = 30 * time.Second

// expirySlack is the time after expiry at which a token must be refused.
const expirySlack = 2 * time.Second

func checkExpiry(t *review.T) {
	token, reason := t.Mint()
	if t.SkipFor(reason) {
		return
	}
	now := t.Client.Clock.Now()
	told := t.Options.TTL != 0
	ttl := cmp.Or(t.Options.TTL, tokens.TTL(token, now))
	limit := max(t.Options.Wait, maxReadWait)
	if issue := tokens.FaultOfTime(token, now); issue != "" && !told {
		t.Trials++
		t.Refute(review.Finding{Case: "the token", Severity: review.Warning, Issue: issue,
			Evidence: review.ReadableEvidence(token),
			Want:     "a time of expiry", Got: issue})
		return
	}
	switch {
	case ttl == 0 && holdsNoTime(token):
		t.Trials++
		t.Refute(review.Finding{Case: "no time", Severity: review.Suggestion,
			Issue:    "the readable token holds no time: it expires only if the server remembers when it was minted",
			Evidence: review.ReadableEvidence(token),
			Want:     "a time", Got: "none"})
		return
	case ttl == 0 && t.Options.Wait == 0:
		t.Skip("the time to live is unknown; --ttl sets it, --wait waits")
		return
	case ttl == 0:
		if presentAfterWait(t, t.Options.Wait) == review.Accepted {
			t.Skip("not refused within --wait %v", t.Options.Wait)
		}
		return
	case !told && ttl+expirySlack > limit:
		t.Skip("the token says that it lives for %v; --wait %v waits for that", ttl.Round(time.Second), (ttl + expirySlack).Round(time.Second))
		return
	}
	if presentAfterWait(t, ttl+expirySlack) == review.Accepted {
		_, remark := t.AcceptanceSeverity(t.Oracle.Flow)
		t.Refute(review.Finding{Case: "after its time", Severity: review.Warning, Issue: fmt.Sprintf("a token is accepted after its time to live of %v", ttl.Round(time.Second)) + remark,
			Evidence: fmt.Sprintf("presented %v after it was minted: accepted, twice; a fresh token: accepted; garbage: refused", (ttl + expirySlack).Round(time.Second)), Want: "refused", Got: "accepted"})
	}
}

// presentAfterWait mints tokens of each flow, waits, and presents them between two controls. If all
// tokens of a flow are accepted, it selects that flow and returns Accepted.
func presentAfterWait(t *review.T, wait time.Duration) review.Verdict {
	own, old, known := t.Oracle, map[*review.Oracle][]string{}, mintPresented(t)
	flows := append([]*review.Oracle{own}, slices.DeleteFunc(slices.Clone(t.Oracles), func(o *review.Oracle) bool { return o == own })...)
	flows = append(slices.Clone(t.Sighted(t.Context)), flows...)
	for _, o := range flows {
		t.Oracle = o
		for range review.Repetitions {
			token, reason := t.Mint()
			switch {
			case reason == "":
				old[o] = append(old[o], token)
			case o == own:
				t.Skip("%s", reason)
				return review.Unclear
			}
		}
	}
	minted := t.Client.Clock.Now()
	t.Options.Log("waiting %v for a token to expire", wait)
	if err := t.Client.Clock.Sleep(t.Context, wait); err != nil {
		t.Skip("waiting: %v", err)
		return review.Unclear
	}
	result := review.Unclear
	for _, o := range flows {
		if t.Oracle = o; len(old[o]) < review.Repetitions {
			continue
		}
		v, reason := presentOld(t, old[o])
		switch {
		case v == review.Accepted:
			return v
		case o == own && reason != "":
			t.Skip("%s", reason)
		case o == own:
			result = v
		}
	}
	if t.Oracle = own; result != review.Refused {
		return result
	}
	presentExpiredAgain(t, known)
	exchangeExpired(t, old[own])
	presentWithOldDate(t, old[own], minted)
	compareExpiredRefusal(t, old[own])
	return result
}

// mintPresented mints a token and presents it without answers, so that a server may cache its
// verdict. It returns "" without effects.
func mintPresented(t *review.T) string {
	f := t.Oracle.Flow
	if f.Last == nil {
		return ""
	}
	f.Last = nil
	token, _, err := t.Client.Mint(t.Context, f, t.Oracle.User)
	if err != nil || t.PresentIn(f, jsondoc.Quote(token)).Kind != client.Asked {
		return ""
	}
	return token
}

// presentExpiredAgain presents an expired token that was also presented before it expired.
func presentExpiredAgain(t *review.T, token string) {
	if token == "" {
		return
	}
	a := t.Tried(t.PresentText(token))
	if t.Oracle.Verdict(a) != review.Accepted || renewsRound(t, a) || a.Kind == client.Completed && !t.Oracle.Alike(a) {
		return
	}
	t.Refute(review.Finding{Case: "presented before", Severity: review.Warning, Issue: "a token that was presented without answers within its time is accepted after it",
		Evidence: fmt.Sprintf("tokens that were not presented: refused; this one: %v", a), Want: "refused", Got: "accepted"})
}

// exchangeExpired presents expired tokens without answers, and then the state of the answer.
func exchangeExpired(t *review.T, old []string) {
	f := t.Oracle.Flow
	if f.Last = nil; len(t.Findings) > 0 {
		return
	}
	var a client.Answer
	for _, token := range old {
		a = t.Tried(t.PresentIn(f, jsondoc.Quote(token)))
		if !renewsRound(t, a) {
			return
		}
	}
	t.Refute(review.Finding{Case: "without answers", Severity: review.Warning, Issue: "an expired token without answers is exchanged for a good one of its round",
		Evidence: fmt.Sprintf("%d expired tokens with answers: refused; without: %v", len(old), a), Want: "refused", Got: "accepted"})
}

// presentWithOldDate presents an expired token with the time at which it was minted in the Date
// header.
func presentWithOldDate(t *review.T, old []string, minted time.Time) {
	if t.Client.HTTP == nil || len(t.Findings) > 0 {
		return
	}
	for _, token := range old {
		call := t.Client.Presenting(t.Oracle.Flow, jsondoc.Quote(token), t.Oracle.User)
		body, _, err := t.Client.NextBody(call)
		if err != nil {
			return
		}
		headers := append(t.Client.Headers(t.Context, call), rawmcp.Header{Name: "Date", Value: minted.UTC().Format(http.TimeFormat)})
		if a := t.Tried(t.Client.RawCall(t.Context, headers, body)); t.Oracle.Verdict(a) != review.Accepted || renewsRound(t, a) {
			return
		}
	}
	t.Refute(review.Finding{Case: "with a Date", Severity: review.Warning, Issue: "an expired token is accepted if the header Date of the request names an earlier time",
		Evidence: fmt.Sprintf("%d expired tokens: refused; with Date: %s: accepted", len(old), minted.UTC().Format(http.TimeFormat)), Want: "refused", Got: "accepted"})
}

// presentOld presents old tokens and then controls. It returns Accepted if all tokens are accepted.
func presentOld(t *review.T, tokens []string) (v review.Verdict, reason string) {
	result := review.Accepted
	for _, token := range tokens {
		a := t.PresentText(token)
		if !a.Conclusive() {
			return review.Unclear, a.String()
		}
		t.Trials++
		t.NoteAgain(t.Oracle, a)
		if v := t.Oracle.Verdict(a); v != review.Accepted && !renewsRound(t, a) {
			result = v
		}
	}
	token, reason := t.Mint()
	if reason == "" && t.VerdictOn(token) != review.Accepted {
		reason = "the unchanged token is not accepted afterwards"
	}
	if reason != "" {
		return review.Unclear, reason
	}
	if a := t.PresentText(review.GarbageState); t.Oracle.Verdict(a) != review.Refused {
		return review.Unclear, fmt.Sprintf("garbage is not refused afterwards: %v", a)
	}
	if result == review.Accepted && t.Oracle.Blind() && t.Again != "" {
		return review.Unclear, t.Again
	}
	return result, ""
}

// renewsRound reports whether the answer to an old token is the question of its round with a fresh
// state that goes on. The server then repeats the round and does not start from the beginning.
func renewsRound(t *review.T, a client.Answer) bool {
	if a.Kind != client.Asked || a.State == nil || t.Oracle.Flow.Last == nil || len(t.Oracle.Flow.Rounds) == 0 || a.Class() == t.Oracle.Fresh.Class() {
		return false
	}
	next := t.PresentText(*a.State)
	return t.Oracle.Verdict(next) == review.Accepted && (next.Kind == client.Asked || t.Oracle.Alike(next))
}

var timeText = regexp.MustCompile(`[0-9]{10}|[0-9]{4}-[0-9]{2}-[0-9]{2}T`)

// holdsNoTime reports whether a token can be read and holds no number or text that may be a time.
func holdsNoTime(token string) bool {
	all := tokens.Views(token)
	for _, v := range all {
		if len(v.Before) > 0 || timeText.Match(jsondoc.Object(v.Object)) {
			return false
		}
	}
	return len(all) > 0 && !timeText.MatchString(tokens.InTheOpen(token))
}
