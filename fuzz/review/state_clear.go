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
