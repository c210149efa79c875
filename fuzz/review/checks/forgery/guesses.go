package forgery

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
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
