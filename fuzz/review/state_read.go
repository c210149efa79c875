package review

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// reading are the checks of the contents of tokens. They mint tokens and present
// no altered one.
var reading = []Check{
	{ID: "RS-CLEAR", Name: "a state that can be read", Flow: true, Severity: Critical, Category: "security",
		Sent: "a call with a marker as an argument; the token, and what is nested in it, is searched for it, for the texts of --secret, and for what the second user called with", Want: "no secret can be read; other values may be readable if the token is authenticated",
		Source: "revision 2026-07-28, basic/patterns/mrtr, security", Impact: "the client and everybody on its way read what the server keeps in its state",
		Fix: "encrypt the state, or keep secrets on the server and put a reference into the state", Run: clear},
	{ID: "RS-FRESH", Name: "tokens that repeat", Flow: true, Severity: Suggestion, Category: "security",
		Sent: "30 times the same call", Want: "an encrypted design gives a new token each time", Source: "NIST SP 800-38D, section 8",
		Impact: "equal tokens show equal states; under AES-GCM a repeated nonce gives the key of the tag away", Fix: "draw a fresh nonce for each token", Run: fresh},
	{ID: "RS-NONCE", Name: "a key stream, or a block, that repeats", Flow: true, Severity: Critical, Category: "security",
		Sent: "calls with 40 times A and 40 times B; the xor of the tokens is searched for A xor B; a call with 240 times A, twice, whose tokens are searched for blocks that repeat and compared", Want: "no run of it, no such block, and no common part", Source: "NIST SP 800-38D, section 8; NIST SP 800-38A, section 6.1",
		Impact: "two tokens give their states away, and new states can be written", Fix: "encrypt by an AEAD, under a fresh nonce for each token", Run: nonces},
	{ID: "RS-LEN", Name: "a state that is compressed", Flow: true, Severity: Warning, Category: "security",
		Sent: "calls with 256 equal and 256 random characters, eight times each", Want: "tokens of equal length", Source: "CVE-2012-4929 (CRIME)",
		Impact: "the length of a token tells whether an attacker's text repeats a secret of the state", Fix: "do not compress what is encrypted", Run: lengths},
	{ID: "RS-KEY", Name: "a state under a published key", Flow: true, Severity: Critical, Category: "security",
		Sent: "nothing; the tag of a readable token is computed under published and trivial keys, and as a hash or checksum without a key", Want: "none fits", Source: "RFC 2104, section 3",
		Impact: "anybody computes the tag of any state", Fix: "take the key from a secret store, at least 32 random bytes", Run: publishedKeys},
	{ID: "RS-FORMSECRET", Name: "a question that asks for a secret or tells one", Severity: Warning, Category: "security", Era: "modern",
		Sent: "nothing; the forms that were seen are searched for names of secrets, and every question for credentials and stack traces that the call does not hold", Want: "secrets are asked for in URL mode, and no question has one", Source: "revision 2026-07-28, client/elicitation; CWE-209, CWE-522",
		Impact: "the secret passes through the client and its model", Fix: "use an elicitation of mode url, and write questions from fixed texts", Run: secretForms},
	{ID: "RS-SHAPE", Name: "the form of a question", Severity: Warning, Category: "schema", Era: "modern",
		Sent: "nothing; every question that was seen is checked", Want: "inputRequests or requestState, a string state in that member, known methods, flat forms with a message", Source: mrtr + ", schema",
		Impact: "a client cannot answer the question", Fix: "build the result with the types of the SDK", Run: questionShape},
}

// mintWith mints a token for a text argument; false if no argument takes it.
func (t *T) mintWith(text string) (token string, ok bool) {
	f := t.o.flow
	args := withText(f.Arguments, f.offer.input(), text)
	if args == nil {
		return "", false
	}
	token, _, err := t.r.client.mint(t.ctx, f.with(args), t.o.user)
	return token, err == nil
}

// input is the schema of the arguments; prompts take texts alone.
func (o Offer) input() json.RawMessage {
	if len(o.Arguments) == 0 {
		return o.Input
	}
	properties := map[string]json.RawMessage{}
	for _, a := range o.Arguments {
		properties[a.Name] = json.RawMessage(`{"type":"string"}`)
	}
	return object(map[string]json.RawMessage{"type": quote("object"), "properties": object(properties)})
}

// takesText reports whether an argument of a flow takes any text.
func takesText(f Flow) bool { return withText(f.Arguments, f.offer.input(), markerA) != nil }

const (
	markerA = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	markerB = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
)

// canBeRead reports whether the marker argument or JSON stands in the open.
func (t *T) canBeRead() (bool, string) {
	token, reason := t.mint()
	if reason != "" {
		return false, reason
	}
	marked, ok := t.mintWith(markerA)
	return stateShows(token) || ok && strings.Contains(inTheOpen(marked), markerA), ""
}

func fresh(t *T) {
	t.prefer(takesText)
	if plain, reason := t.canBeRead(); plain || reason != "" {
		t.skip("%s", orElse(reason, "the state can be read, so that equal tokens show no nonce"))
		return
	}
	seen := map[string]bool{}
	for range 30 {
		token, reason := t.mint()
		if reason != "" {
			t.skip("%s", reason)
			return
		}
		t.trials++
		seen[token] = true
	}
	if len(seen) < 30 {
		t.refute(Finding{Case: "30 calls", Severity: Suggestion, Issue: fmt.Sprintf("30 equal calls give %d different tokens", len(seen)), Evidence: "token " + short(sortedKeys(seen)[0], 200), Want: "30 different tokens", Got: "fewer"})
	}
}

func orElse(text, other string) string {
	if text != "" {
		return text
	}
	return other
}

func nonces(t *T) {
	t.prefer(takesText)
	if plain, reason := t.canBeRead(); plain || reason != "" {
		t.skip("%s", orElse(reason, "the state can be read"))
		return
	}
	if t.repeatedBlocks() {
		return
	}
	const minted = 10 // of each text: a counter may begin again after a few tokens
	var tokens []string
	var parts [][]byte
	for i := range 2 * minted {
		token, ok := t.mintWith([]string{markerA, markerB}[i/minted])
		if !ok {
			t.skip("no argument takes a text of 40 characters")
			return
		}
		tokens, parts = append(tokens, token), append(parts, longest(token))
		t.trials++
	}
	for a := range minted {
		for b := minted; b < 2*minted; b++ {
			if n := longestRun(parts[a], parts[b], 'A'^'B'); n >= 12 {
				t.refute(Finding{Case: "A and B", Severity: Critical, Issue: fmt.Sprintf("the xor of two tokens shows %d times A xor B", n), Evidence: short(tokens[a], 160) + " and " + short(tokens[b], 160), Want: "no run", Got: "a run"})
				return
			}
		}
	}
}

// repeatedBlocks mints tokens for equal characters. It refutes if the bytes of one repeat
// for as long: equal blocks of a state are equal blocks of its token.
func (t *T) repeatedBlocks() bool {
	for _, n := range []int{240, 80} {
		token, ok := t.mintWith(strings.Repeat("A", n))
		if !ok {
			continue
		}
		t.trials++
		for period := 1; period <= maxPeriod; period++ {
			if raw := longest(token); len(raw) > n && longestRepeat(raw, period) >= n/2 {
				t.refute(Finding{Case: "equal blocks", Severity: Critical, Issue: fmt.Sprintf("the token of %d times A repeats itself every %d bytes: equal blocks of the state can be seen, moved and copied", n, period), Evidence: short(token, 300), Want: "no repeated block", Got: "repeated blocks"})
				return true
			}
		}
		return t.repeatedPart(token, strings.Repeat("A", n))
	}
	return false
}

// repeatedPart mints a second token for a text. It refutes if both have as many bytes in
// common as the text has, which no header and no digest of a call has.
func (t *T) repeatedPart(token, text string) bool {
	second, ok := t.mintWith(text)
	if !ok || second == token { // see RS-FRESH
		return false
	}
	n := longestRun(longest(token), longest(second), 0)
	if n < len(text) {
		return false
	}
	t.refute(Finding{Case: "a common part", Severity: Warning, Issue: fmt.Sprintf("two tokens of one call have %d bytes in common: the state is encrypted without a fresh nonce, and equal beginnings can be seen", n),
		Evidence: short(token, 160) + " and " + short(second, 160), Want: "no common part", Got: "a common part"})
	return true
}

// longestRepeat returns the longest run of bytes that stand a period before as well.
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

// maxPeriod is the length of the longest block, or key, that may repeat.
const maxPeriod = 32

// longest returns the bytes of the longest coded segment.
func longest(token string) []byte {
	var found []byte
	for _, s := range segmentsOf(token) {
		if raw := s.raw(); len(raw) > len(found) {
			found = raw
		}
	}
	return found
}

// longestRun returns the longest run of x in the xor of a and b, at any of a few
// shifts.
func longestRun(a, b []byte, x byte) int {
	best := 0
	for shift := -4; shift <= 4; shift++ {
		run := 0
		for i := range a {
			j := i + shift
			if j < 0 || j >= len(b) || a[i]^b[j] != x {
				run = 0
				continue
			}
			run++
			best = max(best, run)
		}
	}
	return best
}

func lengths(t *T) {
	t.prefer(takesText)
	same, random := []int{}, []int{}
	alphabet := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	for n := range 8 {
		var b strings.Builder
		for i := range 256 {
			b.WriteByte(alphabet[(i*i*31+i*17+n*7+(i>>3)*11)%len(alphabet)])
		}
		for text, into := range map[string]*[]int{strings.Repeat("x", 256): &same, b.String(): &random} {
			token, ok := t.mintWith(text)
			if !ok {
				t.skip("no argument takes a text of 256 characters, or the call with it gives no token")
				return
			}
			t.trials++
			*into = append(*into, len(token))
		}
	}
	slices.Sort(same)
	slices.Sort(random)
	if random[4]-same[4] > 60 {
		t.refute(Finding{Case: "256 characters", Severity: Warning, Issue: "the token of a repetitive state is shorter: the state is compressed",
			Evidence: fmt.Sprintf("median length %d for 256 times x, %d for mixed characters", same[4], random[4]), Want: "equal lengths", Got: "different lengths"})
	}
}

var secretWords = []string{"password", "passwd", "api key", "apikey", "api_key", "secret", "access token", "access_token", "private key", "credit card", "card number", "cvv", "cvc"}

func secretForms(t *T) {
	for _, a := range t.r.asking {
		for _, key := range sortedKeys(a.Questions) {
			q := a.Questions[key]
			t.trials++
			if found := t.toldIn(a, key); found != "" {
				t.refute(Finding{Case: key, Severity: Warning, Issue: "a question tells a credential or internals of the server", Evidence: fmt.Sprintf("%s -> %s", a.going(), short(found, 12)), Want: "a fixed text", Got: "a credential or internals"})
				return
			}
			if q.Method != "elicitation/create" || q.Params.Mode == "url" {
				continue
			}
			text := strings.ToLower(q.Params.Message)
			for name := range parseSchema(q.Params.Schema).Properties {
				text += "\n" + strings.ToLower(name)
			}
			for _, w := range secretWords {
				if strings.Contains(text, w) {
					t.refute(Finding{Case: key, Severity: Warning, Issue: "a form seems to ask for a secret: " + w, Evidence: short(q.Params.Message, 200), Want: "mode url", Got: "a form"})
					return
				}
			}
		}
	}
	if t.trials == 0 {
		t.skip("no question was seen")
	}
}

// toldIn returns the credential or the stack trace that a question holds beside its URL and
// the texts of its call; "" if it has none.
func (t *T) toldIn(a Answer, key string) string {
	raw := members(members(a.Result)["inputRequests"])[key]
	text := string(raw)
	if url := a.Questions[key].Params.URL; url != "" {
		text = strings.ReplaceAll(text, strings.Trim(string(quote(url)), `"`), "")
	}
	if t.credentialIn(text) == ofTheUser {
		return ofTheUser
	}
	_, value := secretSetting([]byte(text))
	found := cmp.Or(knownKeys.FindString(text), passwordInError.FindString(text), stackTrace.FindString(text), value)
	if strings.Contains(string(a.Exchange.Sent), found) {
		return ""
	}
	return found
}

func questionShape(t *T) {
	for _, o := range t.r.oracles {
		if o.flow.Carrier != "" {
			t.refute(Finding{Case: "the place of the state", Severity: Warning, Issue: "the state stands in _meta under " + short(o.flow.Carrier, 60) + ", which clients do not return", Evidence: short(string(o.fresh.Result), 300), Want: "requestState", Got: "_meta"})
			return
		}
	}
	for _, a := range t.r.asking {
		t.trials++
		m := members(a.Result)
		var issue string
		switch {
		case len(a.Questions) == 0 && m["requestState"] == nil:
			issue = "a result that wants input has neither inputRequests nor requestState"
		case m["requestState"] != nil && string(m["requestState"]) != "null" && a.State == nil:
			issue = "requestState is not a string"
		}
		for _, key := range sortedKeys(a.Questions) {
			switch q := a.Questions[key]; q.Method {
			case "elicitation/create", "sampling/createMessage", "roots/list":
			default:
				issue = fmt.Sprintf("the method of an input request is %s", short(q.Method, 40))
			}
			if fault := formFault(a.Questions[key]); fault != "" && issue == "" {
				issue = fault
			}
		}
		if issue != "" {
			t.refute(Finding{Case: "a question", Severity: Warning, Issue: issue, Evidence: short(string(a.Result), 300), Want: "the schema", Got: issue})
			return
		}
	}
	if t.trials == 0 {
		t.skip("no question was seen")
	}
}
