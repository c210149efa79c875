// Package contents has the checks of the information in tokens and in questions. They mint tokens and
// do not alter them.
package contents

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// URLChecks returns the check of the URLs in questions.
func URLChecks() []review.Check { return urlChecks }

// Checks returns the other checks of contents, in the order in which they run.
func Checks() []review.Check { return contentChecks }

// contentChecks are the checks of the contents of tokens and questions.
var contentChecks = []review.Check{
	{
		ID: "RS-CLEAR", Name: "a state that can be read without the key", Flow: true, Severity: review.Critical, Category: "security",
		Sent: "a call with a marker text as an argument; the check searches the token, and the encodings inside " +
			"it, for the marker, the texts of --secret, credentials, arguments of the second user, and hashes of numbers " +
			"of up to six digits that the question asks for, and for the right answer, in each round and in the one that " +
			"usual answers do not complete; with --effects answers with such a number or value, and with another one",
		Want:   "puts no secret into a readable token; other values may be readable if the token is authenticated",
		Source: "revision 2026-07-28, basic/patterns/mrtr, security",
		Impact: "the client, and everybody who sees the token, reads the secrets that the server keeps in its state",
		Fix:    "encrypt the state, or store secrets on the server and put only a reference into the state",
		Run:    checkReadableState,
	},
	{
		ID: "RS-FRESH", Name: "equal tokens for equal calls", Flow: true, Severity: review.Suggestion, Category: "security",
		Sent:   "the same call 30 times; applies if the token cannot be read",
		Want:   "mints 30 different tokens",
		Source: "NIST SP 800-38D, section 8",
		Impact: "equal tokens show that states are equal; with AES-GCM a repeated nonce reveals the authentication " +
			"key",
		Fix: "draw a fresh nonce for each token",
		Run: checkFreshTokens,
	},
	{
		ID: "RS-NONCE", Name: "a key stream or cipher block that repeats", Flow: true, Severity: review.Critical, Category: "security",
		Sent: "ten calls with 40 letters A and ten with 40 letters B as an argument, whose tokens are compared in " +
			"pairs by XOR; two calls with 240 letters A, whose tokens are searched for repeated blocks and for " +
			"common bytes; a token without answers, which is compared with the token of the repeated question; two equal " +
			"calls, whose tokens are compared; applies if the token cannot be read",
		Want:   "mints tokens without a repeated block, without long common parts, and under a fresh key stream each",
		Source: "NIST SP 800-38D, section 8; NIST SP 800-38A, section 6.1",
		Impact: "an attacker who compares two tokens reads their states and can write new ones",
		Fix:    "encrypt with an AEAD and a fresh nonce for each token",
		Run:    checkNonces,
	},
	{
		ID: "RS-LEN", Name: "a compressed state", Flow: true, Severity: review.Warning, Category: "security",
		Sent: "eight calls with 256 equal characters and eight with 256 mixed characters as an argument; the check " +
			"compares the lengths of the tokens",
		Want:   "mints tokens of equal length",
		Source: "CVE-2012-4929 (CRIME)",
		Impact: "the length of the token shows whether an attacker's text repeats a secret in the state",
		Fix:    "do not compress data that is then encrypted",
		Run:    checkCompression,
	},
	{
		ID: "RS-KEY", Name: "a state under a published or derivable key", Flow: true, Severity: review.Critical, Category: "security",
		Sent: "nothing; the check computes the tag of a readable token under published and trivial keys, under " +
			"keys derived from the server's name, version and address, under the credential of the request, " +
			"under values in the token itself, and as a hash or checksum without a key",
		Want:   "mints tags that none of these keys produces",
		Source: "RFC 2104, section 3",
		Impact: "anybody computes the tag of any state",
		Fix:    "use at least 32 random bytes from a secret store as the key",
		Run:    checkKnownKeys,
	},
	{
		ID: "RS-FORMSECRET", Name: "a question that requests or reveals a secret", Severity: review.Warning, Category: "security", Era: "modern",
		Sent: "nothing; the check searches the forms of all questions for words such as password and API key, and " +
			"the texts of all questions for credentials and stack traces that the call does not contain",
		Want:   "requests secrets only in URL mode, and reveals none in a question",
		Source: "revision 2026-07-28, client/elicitation; CWE-209, CWE-522",
		Impact: "the secret passes through the client and the model",
		Fix:    "use an elicitation with mode url, and write questions from fixed texts",
		Run:    checkSecretForms,
	},
	{
		ID: "RS-SHAPE", Name: "a malformed question", Severity: review.Warning, Category: "schema", Era: "modern",
		Sent: "nothing; the check inspects every question that the server sent",
		Want: "sends inputRequests, requestState or both; sends requestState as a string and not in _meta; uses " +
			"only the methods elicitation/create, sampling/createMessage and roots/list; gives each form a " +
			"message and a flat object schema; gives no consent the default true",
		Source: review.SourceMRTR + ", schema",
		Impact: "the client cannot answer the question",
		Fix:    "build the result with the types of the SDK",
		Run:    checkQuestionShape,
	},
}

func checkFreshTokens(t *review.T) {
	t.Prefer(review.TakesText)
	if plain, reason := t.CanBeRead(); plain || reason != "" {
		t.Skip("%s", cmp.Or(reason, "the state can be read, so that equal tokens show no nonce"))
		return
	}
	seen := map[string]bool{}
	for range 30 {
		token, reason := t.Mint()
		if t.SkipFor(reason) {
			return
		}
		t.Trials++
		seen[token] = true
	}
	if len(seen) < 30 {
		t.Refute(review.Finding{Case: "30 calls", Severity: review.Suggestion, Issue: fmt.Sprintf("30 equal calls give %d different tokens", len(seen)),
			Evidence: "token " + client.Short(jsondoc.SortedKeys(seen)[0], 200), Want: "30 different tokens", Got: "fewer"})
	}
}

func checkNonces(t *review.T) {
	t.Prefer(review.TakesText)
	if plain, reason := t.CanBeRead(); plain || reason != "" {
		t.Skip("%s", cmp.Or(reason, "the state can be read"))
		return
	}
	if findRepeatedBlocks(t) || findSharedKeyStream(t) {
		return
	}
	const minted = 10 // of each text; a counter may restart after a few tokens
	var given []string
	var parts [][]byte
	for i := range 2 * minted {
		token, ok := t.MintWithText([]string{review.MarkerA, review.MarkerB}[i/minted])
		if !ok {
			t.Skip("no argument takes a text of 40 characters")
			return
		}
		if strings.Contains(tokens.Readable(token), []string{review.MarkerA, review.MarkerB}[i/minted]) {
			t.Skip("the state can be read")
			return
		}
		given, parts = append(given, token), append(parts, tokens.LongestSegment(token))
		t.Trials++
	}
	for a := range minted {
		for b := minted; b < 2*minted; b++ {
			if n := tokens.LongestRun(parts[a], parts[b], 'A'^'B'); n >= 12 {
				t.Refute(review.Finding{Case: "A and B", Severity: review.Critical, Issue: fmt.Sprintf("the xor of two tokens shows %d times A xor B", n),
					Evidence: client.Short(given[a], 160) + " and " + client.Short(given[b], 160), Want: "no run", Got: "a run"})
				return
			}
		}
	}
}

// findRepeatedBlocks mints tokens for repeated characters. It records a finding if the bytes of a
// token repeat for as long. Equal blocks of the state then give equal blocks of the token.
func findRepeatedBlocks(t *review.T) bool {
	for _, n := range []int{240, 80} {
		token, ok := t.MintWithText(strings.Repeat("A", n))
		if !ok {
			continue
		}
		if strings.Contains(tokens.Readable(token), strings.Repeat("A", n)) {
			return false // no cipher; some tokens can be decoded only if their tag has few characters
		}
		t.Trials++
		for period := 1; period <= maxPeriod; period++ {
			if raw := tokens.LongestSegment(token); len(raw) > n && longestRepeat(raw, period) >= n/2 {
				t.Refute(review.Finding{Case: "equal blocks", Severity: review.Critical,
					Issue:    fmt.Sprintf("the token of %d times A repeats itself every %d bytes: equal blocks of the state can be seen, moved and copied", n, period),
					Evidence: client.Short(token, 300), Want: "no repeated block", Got: "repeated blocks"})
				return true
			}
		}
		return findCommonPart(t, token, strings.Repeat("A", n))
	}
	return false
}

// findCommonPart mints a second token for a text. It records a finding if both tokens share as many
// bytes as the text has. A header or digest is shorter.
func findCommonPart(t *review.T, token, text string) bool {
	second, ok := t.MintWithText(text)
	if !ok || second == token { // see RS-FRESH
		return false
	}
	n := tokens.LongestRun(tokens.LongestSegment(token), tokens.LongestSegment(second), 0)
	if n < len(text) {
		return false
	}
	t.Refute(review.Finding{Case: "a common part", Severity: review.Warning,
		Issue:    fmt.Sprintf("two tokens of one call have %d bytes in common: the state is encrypted without a fresh nonce, and equal beginnings can be seen", n),
		Evidence: client.Short(token, 160) + " and " + client.Short(second, 160), Want: "no common part", Got: "a common part"})
	return true
}

// findSharedKeyStream compares the token of a question with that of the question asked again without answers, and
// the tokens of two calls.
func findSharedKeyStream(t *review.T) bool {
	f := t.Oracle.Flow.WithLast(nil)
	again := func(token string) (string, bool) {
		a := t.Tried(t.PresentIn(f, jsondoc.Quote(token)))
		if a.Kind != client.Asked || a.State == nil {
			return "", false
		}
		return *a.State, true
	}
	another := func(string) (string, bool) {
		t.Trials++
		token, reason := t.Mint()
		return token, reason == ""
	}
	return sharesKeyStream(t, "asked again", "the token of a question that is asked again is encrypted with the key stream of the one before", again) ||
		sharesKeyStream(t, "two calls", "the tokens of two equal calls are encrypted with one key stream", another)
}

// sharesKeyStream records a finding if most of five pairs, of a token and what second returns for it, share a key
// stream. A shared key stream shows in 98 of 100 pairs, an unshared one in at most one of 256.
func sharesKeyStream(t *review.T, name, issue string, second func(token string) (string, bool)) bool {
	var evidence string
	for alike, apart := 0, 0; alike < review.Repetitions; {
		token, reason := t.Mint()
		if reason != "" {
			return false
		}
		other, ok := second(token)
		if !ok {
			return false
		}
		if tokens.SameStream(tokens.LongestSegment(token), tokens.LongestSegment(other)) {
			alike, evidence = alike+1, client.Short(token, 160)+" and "+client.Short(other, 160)
		} else if apart++; apart == review.Repetitions {
			return false
		}
	}
	t.Refute(review.Finding{Case: name, Severity: review.Critical, Issue: issue, Evidence: evidence, Want: "no common part", Got: "one key stream"})
	return true
}

// longestRepeat returns the longest run of bytes that equal the byte one period before.
func longestRepeat(raw []byte, period int) int {
	best, run := 0, 0
	for i := period; i < len(raw); i++ {
		if run++; raw[i] != raw[i-period] {
			run = 0
		}
		best = max(best, run)
	}
	return best
}

// maxPeriod is the length of the longest block or key whose repetition is tested, in bytes.
const maxPeriod = 32

func checkCompression(t *review.T) {
	t.Prefer(review.TakesText)
	same, random := []int{}, []int{}
	alphabet := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	for n := range 8 {
		var b strings.Builder
		for i := range 256 {
			b.WriteByte(alphabet[(i*i*31+i*17+n*7+(i>>3)*11)%len(alphabet)])
		}
		for text, into := range jsondoc.InOrder(map[string]*[]int{strings.Repeat("x", 256): &same, b.String(): &random}) {
			token, ok := t.MintWithText(text)
			if !ok {
				t.Skip("no argument takes a text of 256 characters, or the call with it gives no token")
				return
			}
			t.Trials++
			*into = append(*into, len(token))
		}
	}
	slices.Sort(same)
	slices.Sort(random)
	if random[4]-same[4] > 60 {
		t.Refute(review.Finding{Case: "256 characters", Severity: review.Warning, Issue: "the token of a repetitive state is shorter: the state is compressed",
			Evidence: fmt.Sprintf("median length %d for 256 times x, %d for mixed characters", same[4], random[4]), Want: "equal lengths", Got: "different lengths"})
	}
}

var secretWords = []string{"password", "passwd", "api key", "apikey", "api_key", "secret", "access token", "access_token", "private key", "credit card", "card number", "cvv", "cvc"}

func checkSecretForms(t *review.T) {
	for _, a := range t.Asking {
		for key, q := range jsondoc.InOrder(a.Questions) {
			t.Trials++
			revealing := func(b client.Answer) bool { return secretInQuestion(t, b, key) != "" }
			if found := secretInQuestion(t, a, key); found != "" && isSteady(t, a, revealing) {
				t.Refute(review.Finding{Case: key, Severity: review.Warning, Issue: "a question reveals a credential or internals of the server",
					Evidence: fmt.Sprintf("%s -> %s", a.Class(), client.Short(found, 12)), Want: "a fixed text", Got: "a credential or internals"})
				return
			}
			if q.Method != "elicitation/create" || q.Params.Mode == "url" {
				continue
			}
			text := formText(q)
			for _, w := range secretWords {
				if strings.Contains(text, w) && isSteady(t, a, func(b client.Answer) bool { return strings.Contains(formText(b.Questions[key]), w) }) {
					t.Refute(review.Finding{Case: key, Severity: review.Warning, Issue: "a form seems to ask for a secret: " + w, Evidence: client.Short(q.Params.Message, 200), Want: "mode url", Got: "a form"})
					return
				}
			}
		}
	}
	t.SkipUntried("no question was seen")
}

// isSteady reports whether all questions of the same call and class, after the same answers, have what one
// has, and if it is the first question of its call, whether later ones have it. Some servers put words into
// their questions at random.
func isSteady(t *review.T, a client.Answer, has func(client.Answer) bool) bool {
	call, begins := callOf(a)
	all := slices.Clone(t.Asking)
	if begins {
		for range steadyCalls {
			all = append(all, t.Call(call.By(client.FirstUser)))
		}
	}
	return !slices.ContainsFunc(all, func(b client.Answer) bool {
		other, _ := callOf(b)
		return b.Class() == a.Class() && other.Target == call.Target && jsondoc.Same(other.Arguments, call.Arguments) && jsondoc.Same(other.Answers, call.Answers) && !has(b)
	})
}

// steadyCalls is the number of times that a first question is asked for again.
const steadyCalls = 8

// callOf returns the call that an answer belongs to, and reports whether it has no state.
func callOf(a client.Answer) (call client.Call, begins bool) {
	body := jsondoc.Members(client.BodyOf(a))
	params := jsondoc.Members(body["params"])
	call.Method, _ = jsondoc.Text(body["method"])
	call.Target, _ = jsondoc.Text(params["name"])
	if uri, ok := jsondoc.Text(params["uri"]); ok {
		call.Target = uri
	}
	call.Arguments, call.Answers = params["arguments"], params["inputResponses"]
	return call, params["requestState"] == nil
}

// refuteGivenConsents records a suggestion if a form has a consent that is true by default.
func refuteGivenConsents(t *review.T) {
	for _, a := range t.Asking {
		for _, q := range jsondoc.InOrder(a.Questions) {
			for name, s := range jsondoc.Fields(q.Form()) {
				if review.IsGivenConsent(name, s) && len(t.Findings) == 0 {
					t.Refute(review.Finding{Case: "a consent", Severity: review.Suggestion, Issue: "a consent is true by default: " + client.Short(name, 40),
						Evidence: client.Short(string(a.Result), 300), Want: "no default", Got: "true"})
				}
			}
		}
	}
}

// formText returns the message of a form and the names of the members that take a text, in lower
// case. It returns "" if the form only offers choices, numbers and booleans.
func formText(q client.Question) string {
	var names []string
	for name, s := range jsondoc.Fields(q.Params.Schema) {
		if !s.Listed() && (s.TypeOf() == "string" || s.TypeOf() == "") {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return strings.ToLower(q.Params.Message + "\n" + strings.Join(names, "\n"))
}

// secretInQuestion returns a credential or stack trace in a question, apart from its URL and the
// texts of its call. It returns "" without one.
func secretInQuestion(t *review.T, a client.Answer, key string) string {
	text := string(jsondoc.At(a.Result, "inputRequests", key))
	if url := a.Questions[key].Params.URL; url != "" {
		text = strings.ReplaceAll(text, strings.Trim(string(jsondoc.Quote(url)), `"`), "")
	}
	if credentialIn(t, text) == client.UsersCredential {
		return client.UsersCredential
	}
	_, value := client.SecretSetting([]byte(text))
	found := cmp.Or(client.KnownKeys.FindString(text), client.PasswordInError.FindString(text), client.StackTrace(text), value)
	if strings.Contains(string(a.Exchange.Sent), found) {
		return ""
	}
	return found
}

func checkQuestionShape(t *review.T) {
	for _, o := range t.Oracles {
		if o.Flow.Carrier != "" {
			t.Refute(review.Finding{Case: "the place of the state", Severity: review.Warning,
				Issue:    "the state stands in _meta under " + client.Short(o.Flow.Carrier, 60) + ", which clients do not return",
				Evidence: client.Short(string(o.Fresh.Result), 300), Want: "requestState", Got: "_meta"})
			return
		}
	}
	for _, a := range t.Asking {
		t.Trials++
		m := jsondoc.Members(a.Result)
		var issue string
		switch {
		case len(a.Questions) == 0 && m["requestState"] == nil:
			issue = "a result that wants input has neither inputRequests nor requestState"
		case m["requestState"] != nil && string(m["requestState"]) != "null" && a.State == nil:
			issue = "requestState is not a string"
		}
		for _, key := range jsondoc.SortedKeys(a.Questions) {
			switch q := a.Questions[key]; q.Method {
			case "elicitation/create", "sampling/createMessage", "roots/list":
			default:
				issue = fmt.Sprintf("the method of an input request is %s", client.Short(q.Method, 40))
			}
			if fault := formFault(a.Questions[key]); fault != "" && issue == "" {
				issue = fault
			}
		}
		if issue != "" {
			t.Refute(review.Finding{Case: "a question", Severity: review.Warning, Issue: issue, Evidence: client.Short(string(a.Result), 300), Want: "the schema", Got: issue})
			return
		}
	}
	t.SkipUntried("no question was seen")
	refuteGivenConsents(t)
}

// formFault returns the reason why a client cannot show a form (client/elicitation), or "".
func formFault(q client.Question) string {
	if q.Method != "elicitation/create" || q.Params.Mode != "" && q.Params.Mode != "form" {
		return ""
	}
	form := jsondoc.ParseSchema(q.Form())
	switch {
	case q.Params.Message == "":
		return "a form has no message"
	case form.TypeOf() != "object" || form.Properties == nil:
		return "the schema of a form is not of an object with properties"
	}
	for _, name := range form.Required {
		if form.Properties[name] == nil {
			return fmt.Sprintf("a form requires %s, which it does not have", client.Short(name, 40))
		}
	}
	for name, field := range jsondoc.Fields(q.Form()) {
		kind := field.TypeOf()
		items := jsondoc.ParseSchema(field.Items).TypeOf()
		switch {
		case kind == "object" || kind == "array" && (items == "object" || items == "array"):
			return fmt.Sprintf("the member %s of a form is nested", client.Short(name, 40))
		case kind == "" && len(field.Enum)+len(field.OneOf)+len(field.AnyOf) == 0 && field.Const == nil:
			return fmt.Sprintf("the member %s of a form has no type", client.Short(name, 40))
		}
	}
	return ""
}
