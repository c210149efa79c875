// Package forgery has the checks of requestState (revision 2026-07-28, basic/patterns/mrtr) that the
// server did not mint: forged, altered, joined and guessed states, and those in another encoding or of
// another type.
package forgery

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// Checks returns the checks of forged states, short tags and guessable tokens, in the order in which they
// run.
func Checks() []review.Check { return slices.Concat(forgeryChecks, guessingChecks) }

// EncodingChecks returns the checks of the encoding of a state, in the order in which they run.
func EncodingChecks() []review.Check { return encodingChecks }

const forgeGain = "a client writes the state that the server continues with: another target, another step, another user"

// forgeryChecks are the checks of states that the server did not mint.
var forgeryChecks = []review.Check{
	{
		ID: "RS-TAMPER", Name: "a state with a changed character", Flow: true, Severity: review.Critical, Category: "security",
		Sent: "fresh tokens, each with one bit of one character flipped; fresh tokens with one letter of a base64 " +
			"segment in the other case; tokens of a long argument and of long answers with one changed character; tokens with one " +
			"changed byte and a CRC-32 before or after it that was corrected to match",
		Want:   "refuses every altered token",
		Source: review.SourceMRTR + ", MUST verify integrity",
		Impact: forgeGain,
		Fix:    review.FixSeal,
		Long:   true, Run: checkTampering,
	},
	{
		ID: "RS-FORGE", Name: "a state that the server did not mint", Flow: true, Severity: review.Critical, Category: "security",
		Sent: "the contents of a readable token with changed values, in the token's own format and as plain JSON, " +
			"base64 and base64url; a later time where a token shows one; a state of name=value pairs with one more " +
			"pair at the end or in front, which gives a name another value; a JWT with alg none, with an own " +
			"secret or public key in its header (jwk, x5c), or with an unknown key ID and the key that a " +
			"careless lookup returns for it (an empty text, undefined, a prototype member, an empty file, a file that " +
			"the server shows as a resource), or an ID with another number and the empty key, or with HS256, HS384 or HS512 and a public key that the server shows as the secret; a " +
			"JWE with likely contents for a public key that the server shows, if its states are encrypted so; a " +
			"tag or list of tags that is empty, zero, null, missing, a plain SHA-256, an HMAC under an empty or well-known key, or a " +
			"length extension of the hash; another version or key ID in front of the token, with no tag or " +
			"such a tag; empty segments; for a short handle: wildcards, an SQL condition, a path, and names such " +
			"as constructor; with --effects also readable tokens with changed texts and no answers, with changed " +
			"values under the tags that other tools give for them, tokens that other tools give for changed " +
			"contents, and texts in the results of other tools, called with the same arguments, that may be tokens for another purpose; " +
			"texts in arguments and answers that hold members of a state, as name=value pairs, lines or JSON, and such texts " +
			"with members of other names; readable states with one more member of a name that they have, also in capital letters",
		Want:   "refuses every forged token",
		Source: review.SourceMRTR + ", MUST verify integrity",
		Impact: forgeGain,
		Fix:    review.FixSeal,
		Run:    checkForgery,
	},
	{
		ID: "RS-SPLICE", Name: "parts of two states joined", Flow: true, Severity: review.Critical, Category: "security",
		Sent: "tokens made of the start of one token and the end of another, cut at segment boundaries, at a " +
			"quarter, a third and a half of the length, and at usual tag lengths; tokens with one segment taken " +
			"from another token; the same of tokens for long texts in arguments and answers, if these have more parts",
		Want:   "refuses every joined token",
		Source: review.SourceMRTR + ", MUST verify integrity",
		Impact: "a client combines parts of two states into a state that the server never minted",
		Fix:    review.FixSeal,
		Run:    checkSplicing,
	},
	{
		ID: "RS-CUT", Name: "a shortened state", Flow: true, Severity: review.Critical, Category: "security",
		Sent: "a fresh token cut to many lengths, at the end and at the start; a fresh token whose last segment, " +
			"the tag, is cut to each length and encoded again",
		Want:   "refuses every shortened token and continues to answer",
		Source: review.SourceMRTR + ", MUST verify integrity",
		Impact: "a client removes parts of the state, or shortens the tag until it can guess it",
		Fix:    review.FixSeal,
		Run:    checkTruncation,
	},
}

// presentVariants presents variants, confirms those that were accepted, and records a finding for
// the first.
func presentVariants(t *review.T, severity review.Severity, issue string, vary func(token string) []tokens.Variant) {
	if t.Oracle.Presence {
		t.Refute(review.Finding{Case: "any text", Severity: severity, Issue: "any text is accepted in the place of the state",
			Evidence: fmt.Sprintf("%q: %v, as with a good token; without a state: the flow begins again", review.GarbageState, t.Oracle.Bad), Want: "refused", Got: t.Oracle.Bad.Class()})
		return
	}
	hits, tried, reason := t.Sweep(vary)
	hits = slices.DeleteFunc(hits, func(h review.Hit) bool { return tokens.Respells(h.Token, h.Text) })
	if reason != "" && len(hits) == 0 {
		t.Skip("%s", reason)
		return
	}
	if tried > 0 && t.Unclear == tried {
		t.Skip("none of %d answers shows whether the state was accepted", tried)
		return
	}
	if labels := slices.DeleteFunc(slices.Clone(hits), func(h review.Hit) bool { return !changesOnlyLabels(h.Token, h.Text) }); len(labels) == len(hits) {
		severity, issue = review.Suggestion, issue+" in a member that names a format"
	} else {
		hits = slices.DeleteFunc(hits, func(h review.Hit) bool { return changesOnlyLabels(h.Token, h.Text) })
	}
	confirmed := 0
	for _, h := range hits {
		if confirmed == 3 || confirmed == 0 && h.Name == "" {
			break
		}
		if !t.Confirm(h, vary) {
			continue
		}
		if confirmed++; confirmed > 1 {
			continue
		}
		t.Refute(review.Finding{Case: h.Name, Severity: severity, Issue: fmt.Sprintf("%s: accepted (%d of %d)", issue, len(hits), tried),
			Evidence: fmt.Sprintf("token %s; %s: %s -> %v; garbage -> %v", client.Short(h.Token, 160), h.Name, client.Short(h.Text, 160), h.Answer, t.Oracle.Bad),
			Want:     "refused", Got: h.Answer.Class()})
	}
}

// formatLabels are names of members that declare the format of a token. A reader of a single format
// may ignore them.
var formatLabels = []string{"kind", "type", "typ", "cty", "v", "ver", "version", "format", "fmt", "alg", "enc", "kid"}

// changesOnlyLabels reports whether a state differs from a token that is a JSON object only in
// these members.
func changesOnlyLabels(token, text string) bool {
	one, two := jsondoc.Members(json.RawMessage(token)), jsondoc.Members(json.RawMessage(text))
	if len(one) < 2 || two == nil {
		return false
	}
	for name, raw := range one {
		if string(two[name]) != string(raw) && !slices.Contains(formatLabels, name) {
			return false
		}
	}
	for name := range two {
		if one[name] == nil && len(two) > len(one) {
			return false
		}
	}
	return true
}

func checkTampering(t *review.T) {
	presentVariants(t, review.Critical, "a changed character", func(token string) []tokens.Variant {
		if t.Only != "" { // a replay may select any place of any flow
			return append(tokens.FlipsAt(token, func(int) bool { return true }), tokens.OtherCase(token)...)
		}
		return append(tokens.Flips(token), tokens.OtherCase(token)...)
	})
	if len(t.Findings) == 0 && t.Reason == "" {
		presentVariants(t, review.Critical, "a changed byte with a checksum that is mended", tokens.Mended)
	}
	tamperLongToken(t)
	t.ForOtherFlows(func(o *review.Oracle) {
		presentVariants(t, review.Critical, "a changed character of a state of "+o.Flow.Target, tokens.FewFlips)
	})
}

// maxFlowForgeries is the number of forgeries for each flow after the first.
const maxFlowForgeries = 8

// tamperLongToken changes characters of the tokens of a long argument and of long answers, because a server may
// handle long tokens differently.
func tamperLongToken(t *review.T) {
	own, reason := t.Oracle, t.Reason
	defer func() { t.Oracle, t.Reason = own, reason }()
	if len(t.Findings) > 0 || reason != "" {
		return
	}
	t.Prefer(review.TakesText)
	for _, f := range longFlows(textPlaces(t, t.Oracle), strings.Repeat("a", review.LongArgument)) {
		long, skipped := t.NewOracle(t.Context, f, t.Oracle.User)
		if skipped != "" || len(long.Token) < review.LongArgument {
			continue
		}
		t.Oracle = long
		presentVariants(t, review.Critical, "a changed character of a long state", func(token string) []tokens.Variant {
			return tokens.FlipsAt(token, func(d int) bool { return d%10 == 7 && (d <= 140 || d%9 == 0) })
		})
	}
}

func checkForgery(t *review.T) {
	presentVariants(t, review.Critical, "a forged state", func(token string) []tokens.Variant {
		return append(tokens.Forgeries(token), tokens.Generated(token, false, 6, t.Options.Seed)...)
	})
	if len(t.Findings) == 0 && t.Reason == "" {
		presentExpressions(t)
	}
	t.ForOtherFlows(func(o *review.Oracle) {
		presentVariants(t, review.Critical, "a forged state of "+o.Flow.Target, func(token string) []tokens.Variant { return tokens.Some(tokens.Forgeries(token), maxFlowForgeries) })
		if len(t.Findings) == 0 {
			presentExpressions(t)
		}
	})
	presentPairs(t)
	presentConfusions(t)
	presentFileKeys(t)
	if len(t.Findings) == 0 {
		presentEncrypted(t)
	}
	presentUnverified(t)
	presentStamped(t)
	presentCopied(t)
	presentOtherPurposes(t)
	presentInjected(t)
	presentAdded(t)
}

// presentExpressions presents texts that a careless store takes for a handle. A path to a handle is
// only another spelling and opens no other state.
func presentExpressions(t *review.T) {
	presentVariants(t, review.Critical, "a pattern or a member of every object in the place of a handle", tokens.Expressions)
	if token, reason := t.Mint(); reason == "" {
		if a := t.Tried(t.PresentText(token + tokens.NoCondition)); t.Oracle.Verdict(a) != review.Accepted {
			presentVariants(t, review.Critical, "a condition behind a handle", tokens.Conditions)
		}
	}
	presentVariants(t, review.Suggestion, "a path in the place of a handle", tokens.Paths)
}

func checkSplicing(t *review.T) {
	other, reason := t.OtherToken()
	if t.SkipFor(reason) {
		return
	}
	presentVariants(t, review.Critical, "parts of two tokens joined", func(token string) []tokens.Variant { return tokens.Splices(token, other) })
	spliceLongTokens(t)
}

func checkTruncation(t *review.T) {
	presentVariants(t, review.Critical, "a shortened token", tokens.Cuts)
}
