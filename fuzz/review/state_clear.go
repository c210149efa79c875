package review

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
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
	if t.showsAnother() {
		return
	}
	if found := stateShows(token); found || ok && strings.Contains(text, markerA) {
		t.refute(Finding{Case: "readable", Severity: Suggestion, Issue: "the state can be read without a key (a property; it is a fault if the state holds secrets)",
			Evidence: "token " + short(token, 200) + " holds " + short(strings.TrimPrefix(readable(token), token), 200), Want: "not readable", Got: "readable"})
	}
}

// showsAnother lets the second user call with a word, and then the first without it. It
// refutes if the word can be read in a token of the first, twice.
func (t *T) showsAnother() bool {
	if len(t.r.opts.Target.Second) == 0 || !takesText(t.o.flow) || t.only != "" && t.only != anotherUser {
		return false
	}
	token := ""
	for range repeats {
		word := t.word()
		given := withText(t.o.flow.Arguments, t.o.flow.offer.input(), word)
		if _, _, err := t.r.client.mint(t.ctx, t.o.flow.with(given), second); err != nil {
			return false
		}
		var reason string
		token, reason = t.mint()
		if t.trials++; reason != "" || !strings.Contains(inTheOpen(token), word) {
			return false
		}
	}
	t.refute(Finding{Case: anotherUser, Severity: Warning, Issue: "an argument of another user can be read in the token", Evidence: "after a call of the second user the first got the token " + short(token, 200), Want: "not readable", Got: "readable"})
	return true
}

const anotherUser = "of another user"

// credentialText are texts in a state that look like credentials of a server.
var credentialText = regexp.MustCompile(`(?i)\bsk[-_](live|proj|ant)[-_]\w+|\bAKIA[0-9A-Z]{16}\b|\bgh[pos]_\w{20}|\bxox[bp]-\w+|-----BEGIN [A-Z ]*PRIVATE KEY|\b[a-z][a-z0-9+]*://[^/\s:@"]+:[^/\s:@"]+@|"(?:password|passwd|api_?key|client_?secret|private_?key|access_?token|refresh_?token)":"[^"]{4,}`)

// minSecret is the length of the shortest credential with digits in it that is looked for:
// a shorter one may be the name of a user.
const minSecret = 12

// ofTheUser describes the credential of the user.
const ofTheUser = "the credential of the user"

// credentialIn describes a credential in a readable text: that of the user, or one of
// the server that the call did not give; "" if there is none.
func (t *T) credentialIn(text string) string {
	switch {
	case t.r.opts.Target.repeatedIn(text):
		return ofTheUser
	case credentialText.MatchString(text):
		return "what looks like a credential of the server"
	}
	return ""
}

// repeatedIn reports whether a text has a credential of the first user.
func (t Target) repeatedIn(text string) bool {
	_, secret := t.authorization()
	for _, h := range t.Headers {
		values := []string{h.Value}
		if len(secret) >= minCoded || len(secret) >= minSecret && strings.ContainsAny(secret, "0123456789") {
			values = append(values, secret)
		}
		for _, v := range values {
			for _, form := range []string{v, hex.EncodeToString([]byte(v)), base64.StdEncoding.EncodeToString([]byte(v))} {
				if strings.EqualFold(h.Name, "Authorization") && strings.Contains(v, " ") && strings.Contains(text, form) || v == secret && strings.Contains(text, form) {
					return true
				}
			}
		}
	}
	return false
}

// stateShows reports whether a part of a token can be read that is no header of JOSE,
// which encrypted tokens have as well (RFC 7516).
func stateShows(token string) bool {
	return slices.ContainsFunc(views(token), func(v view) bool { return v.object["alg"] == nil || v.object["enc"] == nil })
}

// maxOpen is the number of bytes that are read in a token, and maxNested how many codes deep.
const (
	maxOpen   = 1 << 18
	maxNested = 4
)

// inTheOpen is everything that can be read in a token: the bytes of its segments, inflated
// forms, and what texts in them stand for in turn.
func inTheOpen(token string) string {
	var b strings.Builder
	unfold(&b, token, maxNested)
	return b.String()
}

func unfold(b *strings.Builder, text string, depth int) {
	b.WriteString(text)
	for _, s := range segmentsOf(text) {
		if !s.coded || b.Len() > maxOpen {
			continue
		}
		raw := s.raw()
		forms := []string{string(raw)}
		for skip := range min(16, len(raw)) {
			if out := inflated(raw[skip:]); out != "" {
				forms = append(forms, out)
			}
		}
		for _, form := range forms {
			b.WriteByte('\n')
			if depth > 1 && utf8.ValidString(form) {
				unfold(b, form, depth-1)
			} else {
				b.WriteString(form)
			}
		}
	}
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
