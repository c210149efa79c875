package forgery

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// presentEncrypted encrypts states for the public keys that the server shows, if its own states are
// encrypted in this way. It records a finding if one is accepted and the same content for another key is
// refused, twice.
func presentEncrypted(t *review.T) {
	for _, o := range t.Oracles {
		for _, stage := range slices.Backward(o.Flow.Stages()) {
			token, question, err := t.Client.Mint(t.Context, stage, o.User)
			header := tokens.PublicKeyHeader(token)
			if err != nil || header == nil || len(t.Findings) > 0 {
				continue
			}
			begin, reason := t.NewOracle(t.Context, stage, o.User)
			if reason != "" || !begin.Bad.Refused() || begin.Blind() {
				t.Skip("the state is encrypted for a public key, and nothing tells a good state of the first round: %s", reason)
				continue
			}
			presentEncryptedFor(t, begin, header, question)
		}
	}
}

// presentEncryptedFor presents states with likely contents for the keys that the server shows.
func presentEncryptedFor(t *review.T, o *review.Oracle, header map[string]json.RawMessage, question client.Answer) {
	for _, key := range shownKeys(t) {
		if key.Name != "DER" {
			continue
		}
		for _, claims := range likelyClaims(t, o, question) {
			present := func(der []byte) (string, client.Answer) {
				text := tokens.Encrypted(header, der, jsondoc.Object(claims))
				if text == "" {
					return "", client.Answer{}
				}
				return text, t.Tried(t.Client.Present(t.Context, o.Flow, jsondoc.Quote(text), o.User))
			}
			text, one := present(key.Text)
			if text == "" || o.Verdict(one) != review.Accepted {
				continue
			}
			_, other := present(tokens.OwnKeyLike(key.Text))
			_, two := present(key.Text)
			if o.Verdict(other) != review.Refused || o.Verdict(two) != review.Accepted {
				continue
			}
			t.Refute(review.Finding{Case: "encrypted for a shown key", Severity: review.Critical, Issue: "a state that a client encrypts for a public key of the server is accepted: nothing in it is signed",
				Evidence: fmt.Sprintf("content %s, %s -> %v; for another key -> %v", jsondoc.Object(claims), client.Short(text, 160), one, other), Want: "refused", Got: one.Class(), Flow: &o.Flow})
			return
		}
	}
}

// Claims that states usually have.
var usualClaims = []string{"sub", "user", "uid", "userId", "tool", "target", "name", "method", "exp", "expires", "iat", "step", "round", "args", "arguments"}

// Kinds of claims, by their names and by what documents say of them.
var (
	userClaim = regexp.MustCompile(`(?i)^(sub|uid|owner|principal|subject)$|user`)
	toolClaim = regexp.MustCompile(`(?i)tool|target|^name$|prompt|resource`)
	timeClaim = regexp.MustCompile(`(?i)^exp|expir|until|valid|seconds`)
)

// claimLife is the lifetime of a state that a client makes.
const claimLife = 5 * time.Minute

// likelyClaims returns contents of a state of the first round, one for each name that the user may have. They
// have the usual claims, the arguments, and the claims of documents whose meaning is clear.
func likelyClaims(t *review.T, o *review.Oracle, question client.Answer) []map[string]json.RawMessage {
	described := map[string]string{}
	for _, name := range usualClaims {
		described[name] = ""
	}
	for _, call := range t.ReadingCalls() {
		for name, text := range tokens.MembersIn(string(t.Call(call).Result)) {
			described[name] = text
		}
	}
	now := t.Client.Clock.Now()
	var all []map[string]json.RawMessage
	for _, user := range userNames(t) {
		claims := map[string]json.RawMessage{}
		for name, text := range described {
			switch {
			case userClaim.MatchString(name), userClaim.MatchString(text):
				claims[name] = jsondoc.Quote(user)
			case timeClaim.MatchString(name), timeClaim.MatchString(text):
				claims[name] = fmt.Append(nil, now.Add(claimLife).Unix())
			case toolClaim.MatchString(name), text == o.Flow.Target:
				claims[name] = jsondoc.Quote(o.Flow.Target)
			case name == "method":
				claims[name] = jsondoc.Quote(o.Flow.Method)
			case name == "iat":
				claims[name] = fmt.Append(nil, now.Unix())
			case name == "step":
				claims[name] = jsondoc.Quote(strings.Join(jsondoc.SortedKeys(question.Questions), ","))
			case name == "round":
				claims[name] = json.RawMessage("1")
			case name == "args", name == "arguments":
				claims[name] = o.Flow.Arguments
			}
		}
		for name, v := range jsondoc.Members(o.Flow.Arguments) {
			claims[name] = v
		}
		all = append(all, claims)
	}
	return all
}

// userNames returns names that the user of the review may have: the parts of the credential.
func userNames(t *review.T) []string {
	_, credential := t.Options.Target.Authorization()
	all := []string{credential}
	parts := strings.FieldsFunc(credential, func(r rune) bool { return strings.ContainsRune("-_.:/ ", r) })
	if len(parts) > 1 {
		slices.Reverse(parts)
		all = append(all, parts[:min(len(parts), 3)]...)
	}
	return all
}
