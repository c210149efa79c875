package review

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// guessing are the checks of tokens that are too short, and of URLs in questions.
var guessing = []Check{
	{ID: "RS-TAG", Name: "a tag that is too short", Flow: true, Severity: Critical, Category: "security",
		Sent: "nothing; the part of a readable token that is no state is measured", Want: "a tag of at least 8 bytes", Source: "RFC 2104, section 5; NIST SP 800-107, section 5.3",
		Impact: "a forged state is accepted after so many tries as the tag has values", Fix: "use the whole tag, of 16 bytes at least", Run: shortTag},
	{ID: "RS-GUESS", Name: "a state that can be guessed", Flow: true, Severity: Critical, Category: "security",
		Sent: "20 times the same call; the characters that differ are counted, and short tokens compared with hashes of counters and times", Want: "tokens that differ in 64 random bits at least", Source: "RFC 9700, section 2.1; CWE-330",
		Impact: "whoever counts on has the states of other users", Fix: "draw 16 random bytes for each state that the server keeps, and bind it to the user", Run: guessable},
	{ID: "RS-URL", Name: "the URL of a question", Severity: Warning, Category: "security", Era: "modern",
		Sent: "calls that ask with X-Forwarded-Host; the URLs that were seen are checked, and none is opened", Want: "https and a host of the server's own, without user information and without credentials, addresses of persons or the state", Source: "revision 2026-07-28, client/elicitation",
		Impact: "the URL, and with it the secret, stands in logs and histories", Fix: "use https, and a reference that means something to the server alone", Run: questionURLs},
}

// minTag is the shortest tag, in bytes, that is not reported.
const minTag = 8

func shortTag(t *T) {
	token, reason := t.mint()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	n, ok := tagLength(token)
	if !ok {
		t.skip("the state cannot be read, so that the length of its tag is unknown")
		return
	}
	t.trials++
	if n >= minTag {
		return
	}
	severity := Warning
	if n <= 2 {
		severity = Critical
	}
	issue := fmt.Sprintf("the tag of the token has %d bytes", n)
	if n == 0 {
		issue = "the token has no tag"
		if t.o.presence {
			severity = Critical
		}
	}
	t.refute(Finding{Case: "the tag", Severity: severity, Issue: issue, Evidence: "token " + short(token, 200), Want: "8 bytes at least", Got: fmt.Sprintf("%d bytes", n)})
}

// tagLength returns the bytes of a token that are not its readable state; false if
// the state cannot be read or the tag is inside of it.
func tagLength(token string) (int, bool) {
	all := views(token)
	segments := segmentsOf(token)
	switch {
	case len(all) > 0 && all[0].segment >= 0:
		longest := len(all[0].after)
		for _, part := range strings.FieldsFunc(token[strings.Index(token, segments[all[0].segment].text)+len(segments[all[0].segment].text):], separator) {
			longest = max(longest, bytesOf(part))
		}
		return longest, true
	}
	return 0, false // JSON in the open may hold its tag as a member
}

func separator(r rune) bool { return strings.ContainsRune(".:~|,;!*$", r) }

// bytesOf is the most bytes that a text can stand for.
func bytesOf(text string) int {
	if b, err := hex.DecodeString(text); err == nil {
		return len(b)
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return int(math.Ceil(math.Log2(float64(n)+1) / 8))
	}
	for _, code := range codings {
		if b, err := code.DecodeString(text); err == nil {
			return len(b)
		}
	}
	if b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "=")); err == nil {
		return len(b)
	}
	return len(text)
}

// jsonPrefix splits bytes that begin with a JSON object.
func jsonPrefix(raw []byte) (object, rest []byte, ok bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, nil, false
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	var v json.RawMessage
	if d.Decode(&v) != nil {
		return nil, nil, false
	}
	return v, raw[len(v):], true
}

func guessable(t *T) {
	var all []string
	before, distinct := time.Now(), map[string]bool{}
	for range 20 {
		token, reason := t.mint()
		if reason != "" {
			t.skip("%s", reason)
			return
		}
		t.trials++
		all, distinct[token] = append(all, token), true
	}
	if len(distinct) < len(all)/2 || len(views(all[0])) > 0 {
		t.skip("the tokens are no handles: they carry their state")
		return
	}
	issue, severity := "", Critical
	of, bits := t.hashedHandle(all[0], before), varyingBits(all)
	switch {
	case counted(all):
		issue = "tokens count up"
	case of != "":
		issue = "a token is the hash of " + of
	case bits < 64:
		issue, severity = fmt.Sprintf("tokens of one call differ in %.0f bits", bits), Warning
	}
	if issue != "" {
		t.refute(Finding{Case: "20 calls", Severity: severity, Issue: issue, Evidence: strings.Join(all[:4], ", "), Want: "64 random bits", Got: issue})
	}
}

// maxHandle is the length of the longest token that counts as a handle without a state.
const maxHandle = 80

// hashedHandle describes what a short token, or a coded part of it, is the hash of; "" if it
// cannot be guessed.
func (t *T) hashedHandle(token string, before time.Time) string {
	if len(token) > maxHandle {
		return ""
	}
	text := token
	for _, s := range segmentsOf(token) {
		text += " " + hex.EncodeToString(s.raw())
	}
	return t.hashedIn(text, before, time.Now())
}

// counted reports whether tokens hold a number that grows from each to the next.
func counted(all []string) bool {
	for _, base := range []int{10, 16} {
		last, grows := uint64(0), true
		for i, token := range all {
			n, ok := differing(token, all, base)
			if !ok || i > 0 && (n <= last || n-last > 1<<34) {
				grows = false
				break
			}
			last = n
		}
		if grows {
			return true
		}
	}
	return false
}

// differing is the number that stands in a token where tokens differ, read as
// digits of a base, with the digits beside it.
func differing(token string, all []string, base int) (uint64, bool) {
	prefix, suffix := common(all)
	if len(prefix)+len(suffix) >= len(token) {
		return 0, false
	}
	digits := "0123456789abcdef"[:base]
	from, to := len(prefix), len(token)-len(suffix)
	for from > 0 && strings.IndexByte(digits, token[from-1]) >= 0 && len(prefix)-from < 12 {
		from--
	}
	if to-from > 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(token[from:to], base, 64)
	return n, err == nil
}

// common returns the prefix and the suffix that all texts share.
func common(all []string) (prefix, suffix string) {
	prefix, suffix = all[0], all[0]
	for _, s := range all[1:] {
		for !strings.HasPrefix(s, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
		for !strings.HasSuffix(s, suffix) {
			suffix = suffix[1:]
		}
	}
	return prefix, suffix
}

// varyingBits bounds the entropy of tokens by the characters that differ.
func varyingBits(all []string) float64 {
	bits := 0.0
	for i := range len(all[0]) {
		seen := map[byte]bool{}
		class := 10.0
		for _, token := range all {
			if i >= len(token) {
				continue
			}
			c := token[i]
			seen[c] = true
			switch {
			case c >= 'g' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-_+/", c) >= 0:
				class = 64
			case c >= 'a' && c <= 'f':
				class = max(class, 16)
			}
		}
		if len(seen) > 1 {
			bits += math.Log2(min(class, float64(len(seen))*4))
		}
	}
	return bits
}

var personal = regexp.MustCompile(`(?i)[?&#](access_?token|token|password|passwd|secret|api_?key|email)=[^&]`)

func questionURLs(t *T) {
	for _, a := range t.r.asking {
		for _, key := range sortedKeys(a.Questions) {
			q := a.Questions[key]
			if q.Params.Mode != "url" && q.Params.URL == "" {
				continue
			}
			t.trials++
			issue := t.urlIssue(q.Params.URL)
			if issue == "" && carriesState(q.Params.URL, a.State) {
				issue = "the URL of a question holds the state"
			}
			if issue != "" {
				t.refute(Finding{Case: key, Severity: Warning, Issue: issue, Evidence: short(q.Params.URL, 200), Want: "https and a reference", Got: issue})
				return
			}
		}
	}
	if t.trials == 0 {
		t.skip("no URL was seen")
		return
	}
	t.forwardedURL()
}

// carriesState reports whether a URL has a state in it that is as long as a token.
func carriesState(text string, state *string) bool {
	return state != nil && len(*state) >= minCoded && (strings.Contains(text, *state) || strings.Contains(text, url.QueryEscape(*state)))
}

// forwardedURL asks with headers of proxies that name another host, which no URL may have.
func (t *T) forwardedURL() {
	if t.r.client.http == nil {
		return
	}
	for _, f := range t.r.flows {
		w := t.wire(f.call(first))
		w.add("X-Forwarded-Host", "evil.example")
		w.add("Forwarded", "host=evil.example")
		a := t.send(w)
		t.seen(variant{name: f.String()}, a)
		for _, key := range sortedKeys(a.Questions) {
			if u, err := url.Parse(a.Questions[key].Params.URL); err == nil && u.Hostname() == "evil.example" {
				t.refuteWire("X-Forwarded-Host", Warning, "the URL of a question has the host that a header names", w, a)
				return
			}
		}
	}
}

func (t *T) urlIssue(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "the URL of a question cannot be read"
	}
	ip := net.ParseIP(u.Hostname())
	here := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	switch {
	case u.User != nil:
		return "the URL of a question holds user information"
	case u.Scheme != "https" && !here:
		return "the URL of a question has the scheme " + short(u.Scheme, 20)
	case personal.MatchString(text):
		return "the URL of a question holds a credential or an address: " + strings.TrimLeft(personal.FindStringSubmatch(text)[1], "?&#")
	}
	return ""
}
