package contents

import (
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/tokens"
)

func checkReadableState(t *review.T) {
	if t.Only == "a secret" && len(t.Options.Secrets) == 0 {
		t.Skip("the secret is not known; --secret names it")
		return
	}
	t.Prefer(review.TakesText)
	token, reason := t.Mint()
	if t.SkipFor(reason) {
		return
	}
	marked, ok := t.MintWithText(review.MarkerA)
	t.Trials++
	text := tokens.InTheOpen(token) + "\n" + tokens.InTheOpen(marked)
	for _, secret := range t.Options.Secrets {
		if strings.Contains(text, secret) {
			t.Refute(review.Finding{Case: "a secret", Severity: review.Warning, Issue: "a text that was named a secret can be read in the token",
				Evidence: "token " + client.Short(token, 200), Want: "not readable", Got: "readable"})
			return
		}
	}
	if what := credentialIn(t, text); what != "" {
		t.Refute(review.Finding{Case: "a credential", Severity: review.Warning, Issue: what + " can be read in the token",
			Evidence: "token " + client.Short(token, 200), Want: "not readable", Got: "readable"})
		return
	}
	if showsOtherUser(t) || showsHashedCode(t) || showsKeptAnswer(t) {
		return
	}
	if found := tokens.Shows(token); found || ok && strings.Contains(text, review.MarkerA) {
		t.Refute(review.Finding{Case: "readable", Severity: review.Suggestion, Issue: "the state can be read without a key (a property; it is a fault if the state holds secrets)",
			Evidence: review.ReadableEvidence(token), Want: "not readable", Got: "readable"})
	}
}

// showsOtherUser makes a call with a word as the second user, and then a call without it as the
// first. It records a finding if the word can be read in a token of the first user, each time.
func showsOtherUser(t *review.T) bool {
	if len(t.Options.Target.Second) == 0 || !review.TakesText(t.Oracle.Flow) || !t.Selected(otherUserCase) {
		return false
	}
	token := ""
	for range review.Repetitions {
		word := t.Word()
		given := t.Oracle.Flow.ArgumentsWith(word)
		if _, _, err := t.Client.Mint(t.Context, t.Oracle.Flow.With(given), client.SecondUser); err != nil {
			return false
		}
		var reason string
		token, reason = t.Mint()
		if t.Trials++; reason != "" || !strings.Contains(tokens.InTheOpen(token), word) {
			return false
		}
	}
	t.Refute(review.Finding{Case: otherUserCase, Severity: review.Warning, Issue: "an argument of another user can be read in the token",
		Evidence: "after a call of the second user the first got the token " + client.Short(token, 200), Want: "not readable", Got: "readable"})
	return true
}

const otherUserCase = "of another user"

// credentialText matches texts that look like credentials of a server.
var credentialText = regexp.MustCompile(`(?i)\bsk[-_](live|proj|ant)[-_]\w+|\bAKIA[0-9A-Z]{16}\b|\bgh[pos]_\w{20}|\bxox[bp]-\w+|-----BEGIN [A-Z ]*PRIVATE KEY|` +
	`\b[a-z][a-z0-9+]*://[^/\s:@"]+:[^/\s:@"]+@|"(?:password|passwd|api_?key|client_?secret|private_?key|access_?token|refresh_?token)":"[^"]{4,}`)

// credentialIn describes a credential in a readable text: that of the user, or one that looks like
// a credential of the server. It returns "" without one.
func credentialIn(t *review.T, text string) string {
	switch {
	case t.Options.Target.RepeatedIn(text):
		return client.UsersCredential
	case credentialText.MatchString(text):
		return "what looks like a credential of the server"
	}
	return ""
}
