package review

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"

	"sealab/internal/rawmcp"
)

// negotiating are the checks of headers of single tools, of Accept, of the
// handshake of older revisions, and of credentials in a URL.
var negotiating = []Check{
	{ID: "H-PARAM", Name: "an argument that differs from its header", Over: "http", Era: "modern", Flow: true, Severity: Warning, Category: "transport",
		Sent: "the first call of a tool with x-mcp-header: no Mcp-Param header, another value, the right value in base64", Want: "error -32020; the right value is taken", Source: transportSpec,
		Impact: "a gateway that routes by the header is passed", Fix: "compare each Mcp-Param header with its argument and answer -32020", Run: paramHeaders},
	{ID: "H-ACCEPT", Name: "other types in Accept", Over: "http", Era: "modern", Severity: Suggestion, Category: "transport",
		Sent: "Accept of JSON alone, of event streams alone, of text/html, none", Want: "an answer, or status 406 or 400", Source: transportSpec + "; RFC 9110, section 12.5.1",
		Impact: "a client's mistake is a fault of the server", Fix: "answer 406", Run: accepts},
	{ID: "H-INIT", Name: "the handshake of older revisions", Over: "http", Era: "modern", Severity: Suggestion, Category: "transport",
		Sent: "initialize of 2025-11-25", Want: "a result, or a JSON-RPC error", Source: "revision 2026-07-28, basic/versioning",
		Impact: "an older client does not learn why it is refused", Fix: "answer initialize by an error that names the supported revisions", Run: initializeAnswered},
	{ID: "A-QUERY", Name: "credentials in the URL", Over: "http", Era: "modern", Severity: Warning, Category: "security",
		Sent: "the credential of --header as the query parameters access_token, token and api_key instead of a header", Want: "refused", Source: "RFC 6750, section 5.3; RFC 9700, section 4.3.2",
		Impact: "credentials stand in logs, histories and Referer headers", Fix: "take credentials from the Authorization header alone", Run: queryCredentials},
	{ID: "A-AUD", Name: "credentials for another server", Over: "http", Severity: Critical, Category: "security",
		Sent: "tools/list with the credentials of --foreign; if the credential of --header is a JWT, also that token with another audience, without a signature, under alg none and nOnE, and as HS256 under an empty and a published key", Want: "status 401 or 403",
		Source: "revision 2026-07-28, basic/authorization, MUST validate that a token was issued for this server; RFC 8707, section 2; RFC 9068, section 4",
		Impact: "any server that a user gave a token to acts in the user's name here", Fix: "verify the signature of access tokens, and compare aud with the URL of this server", Run: foreignCredentials},
}

func paramHeaders(t *T) {
	t.prefer(func(f Flow) bool { return len(t.repeated(f)) > 0 })
	repeated := t.repeated(t.o.flow)
	if len(repeated) == 0 {
		t.skip("no tool that asks first has an argument that a header repeats")
		return
	}
	header := repeated[0].header
	value, _ := repeated[0].value(t.o.flow.Arguments)
	call := t.o.flow.call(t.o.user)
	want := wantCode(Warning, Warning, -32020)
	t.cases(
		wireCase{name: "no " + header, call: call, alter: func(w *wire) { w.drop(header) }, judge: want},
		wireCase{name: "another " + header, call: call, alter: func(w *wire) { w.set(header, "sealab-other") }, judge: want},
		wireCase{name: header + " in base64", call: call, alter: func(w *wire) { w.set(header, base64Form(value)) }, judge: wantServed(Suggestion)},
	)
}

// repeated are the arguments of a flow's first call that headers repeat.
func (t *T) repeated(f Flow) []repeatedArgument {
	var all []repeatedArgument
	for _, r := range t.r.client.repeated[f.Target] {
		if _, ok := r.value(f.Arguments); ok && f.Method == "tools/call" {
			all = append(all, r)
		}
	}
	return all
}

func accepts(t *T) {
	var all []wireCase
	for _, v := range []string{"application/json", "text/event-stream", "text/html", ""} {
		all = append(all, wireCase{name: "Accept " + v, alter: func(w *wire) {
			if w.set("Accept", v); v == "" {
				w.drop("Accept")
			}
		}, judge: func(a Answer) (Severity, string) {
			if a.Kind == broken && (a.Status == 0 || a.Status >= 500) {
				return Suggestion, fmt.Sprintf("no answer, status %d", a.Status)
			}
			return "", ""
		}})
	}
	t.cases(all...)
}

func initializeAnswered(t *T) {
	a := t.r.client.initialize(t.ctx, older, first)
	if a.Kind == throttled || a.Kind == noBudget {
		t.skip("%v", a)
		return
	}
	t.seen(variant{name: older}, a)
	if a.Kind != completed && a.Kind != failed && a.Kind != toolError {
		t.fault(older, Suggestion, "initialize is not answered by a JSON-RPC response", a)
	}
}

// queryNames are the parameters that careless servers take credentials from.
var queryNames = []string{"access_token", "token", "api_key"}

func queryCredentials(t *T) {
	_, secret := t.r.opts.Target.authorization()
	if secret == "" {
		t.skip("no credentials are known; --header gives some")
		return
	}
	if !t.authenticates() {
		return
	}
	call, c := listCall, t.r.client
	call.as = nobody
	for _, name := range queryNames {
		w := t.wire(call)
		w.path = c.pathWith(name, secret)
		a := read(c.raw(t.ctx, rawmcp.Request{Verb: w.verb, Path: w.path, Headers: w.headers, Body: w.body, Done: isAnswer(w.id)}), w.id)
		t.seen(variant{name: name}, a)
		if served(a) {
			t.fault(name, Warning, "a credential in the query parameter "+name+" is taken", a)
			return
		}
	}
}

// pathWith is the path of the server with a parameter.
func (c *client) pathWith(name, value string) string {
	separator := "?"
	if strings.Contains(c.http.Path(), "?") {
		separator = "&"
	}
	return c.http.Path() + separator + name + "=" + url.QueryEscape(value)
}

// authorization is the Authorization header: its scheme, and the credential.
func (t Target) authorization() (scheme, secret string) {
	for _, h := range t.Headers {
		if before, after, ok := strings.Cut(h.Value, " "); ok && strings.EqualFold(h.Name, "Authorization") {
			return before, after
		}
	}
	return "", ""
}

// madeUpHeaders are a credential that no server knows.
var madeUpHeaders = []rawmcp.Header{{Name: "Authorization", Value: madeUp("Bearer x")}}

// authenticates reports whether the server refuses nobody and a made-up credential;
// otherwise it skips the check.
func (t *T) authenticates() bool {
	for _, headers := range [][]rawmcp.Header{nil, madeUpHeaders} {
		if a := t.listedAs(headers); !a.refused() {
			t.skip("the server answers without good credentials: %v", a)
			return false
		}
	}
	return true
}

// listedAs is the answer to an honest request of either era with some credentials.
func (t *T) listedAs(headers []rawmcp.Header) Answer { return t.send(t.listingAs(headers)) }

// listingAs is the request for a list with headers in the place of credentials.
func (t *T) listingAs(headers []rawmcp.Header) *wire {
	call := listCall
	call.as = nobody
	w := t.wire(call)
	t.anyRequest(func(*wire) {}).alter(w)
	w.headers = append(w.headers, headers...)
	return w
}

func foreignCredentials(t *T) {
	target := t.r.opts.Target
	_, secret := target.authorization()
	altered := alteredJWT(secret)
	if len(target.Foreign) == 0 && len(altered) == 0 {
		t.skip("no credential for another server is known; --foreign gives one")
		return
	}
	if own := t.listedAs(target.Headers); !served(own) {
		t.skip("control: the server's own credentials: %v", own)
		return
	}
	if !t.authenticates() {
		return
	}
	all := map[string][]rawmcp.Header{}
	for name, token := range altered {
		all[name] = []rawmcp.Header{{Name: "Authorization", Value: "Bearer " + token}}
	}
	if len(target.Foreign) > 0 {
		all["a credential for another server"] = target.Foreign
	}
	for _, name := range sortedKeys(all) {
		a := t.listedAs(all[name])
		if !a.conclusive() {
			t.skip("%s: %v", name, a)
			return
		}
		t.seen(variant{name: name}, a)
		if served(a) {
			t.fault(name, Critical, name+" is taken", a)
		}
	}
}

// alteredJWT are changed forms of a JWT (RFC 7519) that no server may take; none if
// the credential is no JWT.
func alteredJWT(token string) map[string]string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	header, err := base64.RawURLEncoding.DecodeString(parts[0])
	claims, also := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || also != nil || members(header)["alg"] == nil || members(claims) == nil {
		return nil
	}
	encode := base64.RawURLEncoding.EncodeToString
	body := encode(object(with(members(claims), "aud", quote("https://other.example/mcp"))))
	none := encode(object(with(members(header), "alg", quote("none"))))
	under := func(key string) string {
		text := encode(object(with(members(header), "alg", quote("HS256")))) + "." + parts[1]
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(text))
		return text + "." + encode(mac.Sum(nil))
	}
	return map[string]string{
		"a JWT with another audience":   parts[0] + "." + body + "." + parts[2],
		"a JWT without its signature":   parts[0] + "." + parts[1] + ".",
		"a JWT under the alg none":      none + "." + parts[1] + ".",
		"a JWT under the alg nOnE":      encode(object(with(members(header), "alg", quote("nOnE")))) + "." + parts[1] + ".",
		"a JWT under an empty key":      under(""),
		"a JWT under the key of a page": under("secret"),
	}
}
