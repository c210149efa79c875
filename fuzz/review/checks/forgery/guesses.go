package forgery

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// guessingChecks are the checks of short tags and guessable tokens.
var guessingChecks = []review.Check{
	{
		ID: "RS-TAG", Name: "a tag that is too short", Flow: true, Severity: review.Critical, Category: "security",
		Sent: "the check measures the bytes of a readable token that are not part of the state; for a token in plain " +
			"text that ends in at most four characters: the token with an earlier time and each value of these " +
			"characters, if a minute and the budget suffice for all",
		Want:   "mints tokens with a tag of at least 8 bytes",
		Source: "RFC 2104, section 5; NIST SP 800-107, section 5.3",
		Impact: "a client forges a state by trying all values of the tag",
		Fix:    "use the whole tag: at least 16 bytes",
		Run:    checkTagLength,
	},
	{
		ID: "RS-GUESS", Name: "a state that can be guessed", Flow: true, Severity: review.Critical, Category: "security",
		Sent: "the same call 20 times; the check counts the bits that differ between the tokens, and compares " +
			"short tokens with hashes of counters and of the time; it applies to handles, not to tokens that " +
			"contain their state; a token of the first user, by the second",
		Want:   "mints handles that differ in at least 64 random bits, or, as a suggestion, refuses them from other users",
		Source: "RFC 9700, section 2.1; CWE-330",
		Impact: "a client guesses the handles of other users' states",
		Fix:    "draw 16 random bytes for each state that the server stores, and bind it to the user",
		Run:    checkGuessableTokens,
	},
}

func checkTagLength(t *review.T) {
	token, reason := t.Mint()
	if t.SkipFor(reason) {
		return
	}
	n, ok := tokens.TagLength(token)
	if !ok {
		if !forgeShortTag(t) {
			t.Skip("the state cannot be read, so that the length of its tag is unknown")
		}
		return
	}
	t.Trials++
	if n >= tokens.MinTag {
		return
	}
	severity := review.Warning
	if n <= 2 {
		severity = review.Critical
	}
	issue := fmt.Sprintf("the tag of the token has %d bytes", n)
	if n == 0 {
		issue = "the token has no tag"
		if t.Oracle.Presence {
			severity = review.Critical
		}
	}
	t.Refute(review.Finding{Case: "the tag", Severity: severity, Issue: issue, Evidence: "token " + client.Short(token, 200), Want: "8 bytes at least", Got: fmt.Sprintf("%d bytes", n)})
}

func checkGuessableTokens(t *review.T) {
	var all []string
	before, distinct := time.Now(), map[string]bool{}
	for range 20 {
		token, reason := t.Mint()
		if t.SkipFor(reason) {
			return
		}
		t.Trials++
		all, distinct[token] = append(all, token), true
	}
	if len(distinct) < len(all)/2 || len(tokens.Views(all[0])) > 0 {
		t.Skip("the tokens are no handles: they carry their state")
		return
	}
	issue, severity := "", review.Critical
	of, bits := hashedHandle(t, all[0], before), tokens.VaryingBits(all)
	switch {
	case tokens.CountUp(all):
		issue = "tokens count up"
	case of != "":
		issue = "a token is the hash of " + of
	case bits < 64:
		issue, severity = fmt.Sprintf("tokens of one call differ in %.0f bits", bits), review.Warning
	}
	if issue != "" && isOfOneUser(t) {
		issue, severity = issue+", and are refused from another user", review.Suggestion
	}
	if issue != "" {
		t.Refute(review.Finding{Case: "20 calls", Severity: severity, Issue: issue, Evidence: strings.Join(all[:4], ", "), Want: "64 random bits", Got: issue})
	}
}

// isOfOneUser reports whether a second user is known and the server refuses the tokens of the first user
// from the second. A token that can be guessed then gives only what its owner has.
func isOfOneUser(t *review.T) bool {
	if len(t.Options.Target.Second) == 0 {
		return false
	}
	_, accepted, reason := t.Moved(review.Move{Source: t.Oracle.Flow, Target: t.Oracle.Flow, SourceUser: client.FirstUser, TargetUser: client.SecondUser, Strict: true})
	return !accepted && reason == ""
}

// maxHandle is the length of the longest token that counts as a handle, in characters.
const maxHandle = 80

// hashedHandle reports how a short token can be guessed, if it contains the hash of a counter or of
// the time. It returns "" if it finds no such hash.
func hashedHandle(t *review.T, token string, before time.Time) string {
	if len(token) > maxHandle {
		return ""
	}
	text := token
	for _, s := range tokens.Segments(token) {
		text += " " + hex.EncodeToString(s.Raw())
	}
	return t.HashedIn(text, before, time.Now())
}

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
