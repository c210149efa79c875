package review

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sealab/fuzz/attack/tokenfmt"
)

// reading are the checks of the contents of tokens. They mint tokens and present
// no altered one.
var reading = []Check{
	{ID: "RS-CLEAR", Name: "a state that can be read", Flow: true, Severity: Critical, Category: "security",
		Sent: "a call with a marker as an argument; the token is searched for it and for the texts of --secret", Want: "no secret can be read; other values may be readable if the token is authenticated",
		Source: "revision 2026-07-28, basic/patterns/mrtr, security", Impact: "the client and everybody on its way read what the server keeps in its state",
		Fix: "encrypt the state, or keep secrets on the server and put a reference into the state", Run: clear},
	{ID: "RS-FRESH", Name: "tokens that repeat", Flow: true, Severity: Suggestion, Category: "security",
		Sent: "30 times the same call", Want: "an encrypted design gives a new token each time", Source: "NIST SP 800-38D, section 8",
		Impact: "equal tokens show equal states; under AES-GCM a repeated nonce gives the key of the tag away", Fix: "draw a fresh nonce for each token", Run: fresh},
	{ID: "RS-NONCE", Name: "a key stream that repeats", Flow: true, Severity: Critical, Category: "security",
		Sent: "calls with 40 times A and 40 times B; the xor of the tokens is searched for A xor B", Want: "no run of it", Source: "NIST SP 800-38D, section 8",
		Impact: "two tokens give their states away, and new states can be written", Fix: "draw a fresh nonce for each token", Run: nonces},
	{ID: "RS-LEN", Name: "a state that is compressed", Flow: true, Severity: Warning, Category: "security",
		Sent: "calls with 256 equal and 256 random characters, eight times each", Want: "tokens of equal length", Source: "CVE-2012-4929 (CRIME)",
		Impact: "the length of a token tells whether an attacker's text repeats a secret of the state", Fix: "do not compress what is encrypted", Run: lengths},
	{ID: "RS-KEY", Name: "a state under a published key", Flow: true, Severity: Critical, Category: "security",
		Sent: "nothing; the tag of a readable token is computed under published and trivial keys, and as a hash or checksum without a key", Want: "none fits", Source: "RFC 2104, section 3",
		Impact: "anybody computes the tag of any state", Fix: "take the key from a secret store, at least 32 random bytes", Run: publishedKeys},
	{ID: "RS-FORMSECRET", Name: "a form that asks for a secret", Severity: Warning, Category: "security", Era: "modern",
		Sent: "nothing; the forms that were seen are searched for names of secrets", Want: "secrets are asked for in URL mode", Source: "revision 2026-07-28, client/elicitation",
		Impact: "the secret passes through the client and its model", Fix: "use an elicitation of mode url", Run: secretForms},
	{ID: "RS-SHAPE", Name: "the form of a question", Severity: Warning, Category: "schema", Era: "modern",
		Sent: "nothing; every question that was seen is checked", Want: "inputRequests or requestState, a string state, known methods, flat forms with a message", Source: mrtr + ", schema",
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

func clear(t *T) {
	if t.only == "a secret" && len(t.r.opts.Secrets) == 0 {
		t.skip("the secret is not known; --secret names it")
		return
	}
	t.prefer(takesText)
	token, reason := t.mint()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	marked, ok := t.mintWith(markerA)
	t.trials++
	text := inTheOpen(token) + "\n" + inTheOpen(marked)
	for _, secret := range t.r.opts.Secrets {
		if strings.Contains(text, secret) {
			t.refute(Finding{Case: "a secret", Severity: Warning, Issue: "a text that was named a secret can be read in the token", Evidence: "token " + short(token, 200), Want: "not readable", Got: "readable"})
			return
		}
	}
	if what := t.credentialIn(text); what != "" {
		t.refute(Finding{Case: "a credential", Severity: Warning, Issue: what + " can be read in the token", Evidence: "token " + short(token, 200), Want: "not readable", Got: "readable"})
		return
	}
	if found := stateShows(token); found || ok && strings.Contains(text, markerA) {
		t.refute(Finding{Case: "readable", Severity: Suggestion, Issue: "the state can be read without a key (a property; it is a fault if the state holds secrets)",
			Evidence: "token " + short(token, 200) + " holds " + short(strings.TrimPrefix(readable(token), token), 200), Want: "not readable", Got: "readable"})
	}
}

// credentialText are texts in a state that look like credentials of a server.
var credentialText = regexp.MustCompile(`(?i)\bsk[-_](live|proj|ant)[-_]\w+|\bAKIA[0-9A-Z]{16}\b|\bgh[pos]_\w{20}|\bxox[bp]-\w+|-----BEGIN [A-Z ]*PRIVATE KEY|\b[a-z][a-z0-9+]*://[^/\s:@"]+:[^/\s:@"]+@|"(?:password|passwd|api_?key|client_?secret|private_?key|access_?token|refresh_?token)":"[^"]{4,}`)

// credentialIn describes a credential in a readable text: that of the user, or one of
// the server that the call did not give; "" if there is none.
func (t *T) credentialIn(text string) string {
	_, secret := t.r.opts.Target.authorization()
	for _, h := range t.r.opts.Target.Headers {
		values := []string{h.Value}
		if len(secret) >= minCoded {
			values = append(values, secret)
		}
		for _, v := range values {
			for _, form := range []string{v, hex.EncodeToString([]byte(v)), base64.StdEncoding.EncodeToString([]byte(v))} {
				if strings.EqualFold(h.Name, "Authorization") && strings.Contains(v, " ") && strings.Contains(text, form) || v == secret && strings.Contains(text, form) {
					return "the credential of the user"
				}
			}
		}
	}
	if credentialText.MatchString(text) {
		return "what looks like a credential of the server"
	}
	return ""
}

// stateShows reports whether a part of a token can be read that is no header of JOSE,
// which encrypted tokens have as well (RFC 7516).
func stateShows(token string) bool {
	return slices.ContainsFunc(views(token), func(v view) bool { return v.object["alg"] == nil || v.object["enc"] == nil })
}

// inTheOpen is everything that can be read in a token, inflated forms included.
func inTheOpen(token string) string {
	var b strings.Builder
	b.WriteString(readable(token))
	for _, s := range segmentsOf(token) {
		raw := s.raw()
		for skip := range min(16, len(raw)) {
			if out := inflated(raw[skip:]); out != "" {
				b.WriteString("\n" + out)
			}
		}
	}
	return b.String()
}

// inflated undoes DEFLATE and zlib, of at most 64 KiB.
func inflated(raw []byte) string {
	for _, open := range []func() (io.Reader, error){
		func() (io.Reader, error) { return flate.NewReader(bytes.NewReader(raw)), nil },
		func() (io.Reader, error) { return zlib.NewReader(bytes.NewReader(raw)) },
	} {
		r, err := open()
		if err != nil {
			continue
		}
		if out, err := io.ReadAll(io.LimitReader(r, 1<<16)); err == nil && len(out) > 16 {
			return string(out)
		}
	}
	return ""
}

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

// careless are keys of templates and tutorials, and what a missing variable turns into.
var careless = []string{
	"change-me", "change_me", "changeit", "change-this", "replace-me", "please-change-me", "change-me-in-production", "undefined", "null", "None", "nil", "default", "example", "insecure", "not-a-secret",
	"dev", "dev-secret", "dev_secret", "dev-key", "dev-only-secret", "insecure-dev-key", "test-secret", "test-key", "my-secret", "mysecret", "my-secret-key", "mysecretkey", "your-secret", "your-secret-key", "your_secret_key", "your-secret-key-here",
	"supersecretkey", "super_secret_key", "super-secret", "topsecret", "s3cr3t", "secretkey", "secret_key", "secret123", "password123", "admin", "123456", "12345678", "keyboard cat", "shhhhh",
	"jwt_secret", "jwt-secret", "session-secret", "state-secret", "signing-key", "signing-secret", "hmac-key", "hmac-secret", "mcp", "mcp-secret", "mcp-server", "a-string-secret-at-least-256-bits-long",
}

// published are keys that stand in examples and documents, and careless ones.
func published() [][]byte {
	keys := [][]byte{
		[]byte("example-request-state-signing-key-32b!"), []byte("rust-sdk-conformance-request-state-key!!"),
		[]byte("example-development-key-example-development-key-"), []byte("secret"), []byte("changeme"), []byte("password"), []byte("key"), []byte("test"), []byte("development"),
		[]byte("your-256-bit-secret"), []byte("super-secret-key"), []byte("supersecret"), []byte("secret-key"), []byte("0123456789abcdef0123456789abcdef"), []byte("abcdefghijklmnopqrstuvwxyz123456"),
	}
	for _, word := range careless {
		keys = append(keys, []byte(word))
	}
	for _, c := range []byte{0, 1, 0xff, 'a', 'A', 'k', 'x', '0', 's'} {
		for _, n := range []int{16, 32, 64} {
			keys = append(keys, bytes.Repeat([]byte{c}, n))
		}
	}
	return keys
}

// A keyless is a tag that anybody can compute.
type keyless struct {
	issue, name string
	sum         func(message []byte) []byte
}

// hmacUnder is HMAC-SHA256 under a key that is known.
func hmacUnder(key []byte) keyless {
	return keyless{"the tag of the token is that of a published or trivial key", fmt.Sprintf("HMAC-SHA256 under %+q", key), func(message []byte) []byte {
		mac := hmac.New(sha256.New, key)
		mac.Write(message)
		return mac.Sum(nil)[:12]
	}}
}

// keylesses are MACs under published keys, hashes and checksums.
func keylesses() []keyless {
	var all []keyless
	for _, key := range published() {
		all = append(all, hmacUnder(key))
	}
	for _, c := range tokenfmt.Checksums() {
		all = append(all, keyless{"the tag of the token is computed without a key", c.Name, c.Sum})
	}
	return all
}

func publishedKeys(t *T) {
	token, reason := t.mint()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	if len(views(token)) == 0 {
		t.skip("the state cannot be read, so that no tag can be computed")
		return
	}
	all := keylesses()
	if name := t.r.Report.Server.Name; name != "" {
		all = append(all, hmacUnder([]byte(name)), hmacUnder([]byte(name+"-secret")))
	}
	for _, k := range all {
		if !k.tags(token) {
			continue
		}
		// Four bytes may fit by chance: another token has to have the tag as well.
		if other, reason := t.otherToken(); reason == "" && k.tags(other) {
			t.refute(Finding{Case: k.name, Severity: Critical, Issue: k.issue, Evidence: fmt.Sprintf("token %s, tag %s", short(token, 160), k.name), Want: "an unknown key", Got: "a known key"})
			return
		}
	}
	t.trials++
}

// tags reports whether the token holds the tag of one of its parts: anywhere if it
// is long, else as its last part.
func (k keyless) tags(token string) bool {
	all, last := readable(token), lastParts(token)
	for _, message := range signedTexts(token) {
		sum := string(k.sum(message))
		if len(sum) >= 8 && strings.Contains(all, sum) || slices.Contains(last, sum) {
			return true
		}
	}
	return false
}

// separators are characters that part a tag from the rest of a token.
const separators = ".:~|,;!*$"

// lastParts returns the bytes that the text behind the last separator may stand
// for. A number stands for four bytes.
func lastParts(token string) []string {
	text := token[strings.LastIndexAny(token, separators)+1:]
	var all []string
	if b, err := hex.DecodeString(text); err == nil {
		all = append(all, string(b))
	}
	for _, code := range codings {
		if b, err := code.DecodeString(text); err == nil {
			all = append(all, string(b))
		}
	}
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		all = append(all, string(binary.BigEndian.AppendUint32(nil, uint32(n))))
	}
	return all
}

// signedTexts are the parts of a token that its tag may cover: each run of
// segments from the start or from the first coded one, as text and as bytes.
func signedTexts(token string) [][]byte {
	segments := segmentsOf(token)
	var all [][]byte
	for from := range segments {
		for to := from + 1; to <= len(segments); to++ {
			all = append(all, []byte(replaced(segments[from:to], -1, "")))
		}
		raw := segments[from].raw()
		all = append(all, raw)
		for _, tag := range []int{16, 20, 32} {
			if len(raw) > tag {
				all = append(all, raw[:len(raw)-tag])
			}
		}
	}
	return all
}

var secretWords = []string{"password", "passwd", "api key", "apikey", "api_key", "secret", "access token", "access_token", "private key", "credit card", "card number", "cvv", "cvc"}

func secretForms(t *T) {
	for _, a := range t.r.asking {
		for _, key := range sortedKeys(a.Questions) {
			q := a.Questions[key]
			if q.Method != "elicitation/create" || q.Params.Mode == "url" {
				continue
			}
			t.trials++
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
		t.skip("no form was seen")
	}
}

func questionShape(t *T) {
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
