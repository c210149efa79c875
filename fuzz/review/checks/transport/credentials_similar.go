package transport

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
	"sealab/internal/rawmcp"
)

// A similarCredential is a set of headers that resemble a credential.
type similarCredential struct {
	name     string
	headers  []rawmcp.Header
	severity review.Severity
}

// builtInNames are names that a lookup of a credential in an object finds although nobody stored
// them: members of JavaScript, Python and Ruby objects, and an index of a list.
var builtInNames = []string{"constructor", "__proto__", "toString", "hasOwnProperty", "__class__", "__dict__", "__init__", "class", "object_id", "length", "0"}

// minTag is the length of the shortest last part of a credential that may be a tag, in characters. A
// shorter one may be a checksum.
const minTag = 16

// unsignedCredentials returns a credential without the tag behind its last separator and with parts of the
// tag. A JWT also comes as its claims alone, with the algorithm none, and as JSON. All name the own user.
func unsignedCredentials(secret string) []tokens.Variant {
	at := strings.LastIndexAny(secret, ".:|~") + 1
	if at == 0 || len(secret)-at < minTag {
		return nil
	}
	all := []tokens.Variant{
		{Name: "a credential without its last part", Text: secret[:at-1]},
		{Name: "a credential with an empty last part", Text: secret[:at]},
		{Name: "a credential with a part of its last part", Text: secret[:at+1]},
		{Name: "a credential with a part of its last part", Text: secret[:at+4]},
	}
	parts, views := strings.Split(secret, "."), tokens.Views(secret)
	if len(parts) != 3 || len(views) == 0 || views[0].Object["alg"] == nil {
		return all
	}
	for _, alg := range []string{"none", "None", "NONE", "nOnE"} {
		text := views[0].Write(secret, jsondoc.Object(jsondoc.With(views[0].Object, "alg", jsondoc.Quote(alg))))
		for _, unsigned := range []string{text, strings.TrimSuffix(text, parts[2]), strings.TrimSuffix(text, "."+parts[2])} {
			all = append(all, tokens.Variant{Name: "a JWT with the algorithm none", Text: unsigned})
		}
	}
	return append(all, tokens.Variant{Name: "the claims of a JWT", Text: parts[1]}, tokens.Variant{Name: "the claims of a JWT", Text: "." + parts[1] + "."},
		tokens.Variant{Name: "a JWT in JSON without a signature", Text: fmt.Sprintf(`{"payload":"%s","protected":"%s","signature":""}`, parts[1], parts[0])},
		tokens.Variant{Name: "a JWT in JSON without a signature", Text: fmt.Sprintf(`{"payload":"%s","signatures":[]}`, parts[1])})
}

func similarCredentials(scheme, secret string) []similarCredential {
	var all []similarCredential
	add := func(name string, severity review.Severity, headers ...rawmcp.Header) {
		all = append(all, similarCredential{name, headers, severity})
	}
	authorization := func(value string) rawmcp.Header { return rawmcp.Header{Name: "Authorization", Value: value} }
	for _, l := range []struct {
		name, value string
		severity    review.Severity
	}{
		{"one character of a credential", scheme + " " + secret[:1], review.Critical},
		{"half a credential", scheme + " " + secret[:len(secret)/2], review.Critical},
		{"a credential with more characters", scheme + " " + secret + "x", review.Critical},
		{"a credential with another character", scheme + " " + tokens.OtherCharacter(secret), review.Critical},
		{"a credential behind a made-up word", scheme + " sealab " + secret, review.Suggestion},
		{"a credential in the other case", scheme + " " + tokens.SwapCase(secret), review.Warning},
		{"a credential of three words and full stops", scheme + " a.b.c", review.Critical},
		{"a credential of full stops", scheme + " ..", review.Critical},
		{"a credential of odd characters", scheme + " {%00\xff", review.Critical},
		{"an empty credential", scheme + " ", review.Critical}, {"an empty header", "", review.Critical},
		{"the credential null", scheme + " null", review.Critical}, {"the credential undefined", scheme + " undefined", review.Critical},
		{"half a credential and a pattern of any text", scheme + " " + secret[:len(secret)/2] + ".*", review.Critical},
		{"half a credential and a pattern of SQL", scheme + " " + secret[:len(secret)/2] + "%", review.Critical},
		{"a condition of SQL", scheme + " sealab'OR'1'='1", review.Critical},
		{"a credential of another scheme", "Sealab " + secret, review.Suggestion}, {"a credential without its scheme", secret, review.Suggestion},
	} {
		if l.value != scheme+" "+secret {
			add(l.name, l.severity, authorization(l.value))
		}
	}
	for _, v := range unsignedCredentials(secret) {
		add(v.Name, review.Critical, authorization(scheme+" "+v.Text))
	}
	for _, name := range builtInNames {
		add("the name of a built-in member", review.Critical, authorization(scheme+" "+name))
	}
	var cookies []string
	for _, name := range cookieNames {
		cookies = append(cookies, name+"="+secret)
	}
	add("a credential in a cookie", review.Warning, rawmcp.Header{Name: "Cookie", Value: strings.Join(cookies, "; ")})
	add("a credential behind a made-up one", review.Suggestion, authorization(client.MadeUpCredential(scheme+" x")), authorization(scheme+" "+secret))
	if !strings.EqualFold(scheme, "Basic") {
		for _, as := range [][2]string{{"name", secret + ":"}, {"password", "sealab:" + secret}} {
			add("a credential as a "+as[0]+" of Basic", review.Warning, authorization("Basic "+base64.StdEncoding.EncodeToString([]byte(as[1]))))
		}
	}
	for _, name := range proxyHeaders {
		for _, value := range []string{"admin", secret} {
			add("the header "+name, review.Critical, rawmcp.Header{Name: name, Value: value})
		}
	}
	add("headers that rewrite the request", review.Critical, rawmcp.Header{Name: "X-Original-URL", Value: "/"},
		rawmcp.Header{Name: "X-Rewrite-URL", Value: "/"}, rawmcp.Header{Name: "X-HTTP-Method-Override", Value: "OPTIONS"})
	var nearby []rawmcp.Header
	for _, name := range addressHeaders {
		nearby = append(nearby, rawmcp.Header{Name: name, Value: "127.0.0.1"})
	}
	add("the address of this machine in headers of proxies", review.Critical, append(nearby, rawmcp.Header{Name: "Forwarded", Value: "for=127.0.0.1"})...)
	return all
}

func checkSimilarCredentials(t *review.T) {
	scheme, secret := t.Options.Target.Authorization()
	if secret == "" {
		t.Skip("no credential of an Authorization header is known; --header gives one")
		return
	}
	if !requiresCredentials(t) {
		return
	}
	for _, l := range similarCredentials(scheme, secret) {
		if !t.Selected(l.name) || t.HasFinding(l.name) {
			continue
		}
		a := t.ListedAs(l.headers)
		if !a.Conclusive() {
			continue
		}
		t.Trials++
		if client.Served(a) {
			t.Fault(l.name, l.severity, l.name+" is accepted", a)
		}
	}
	presentSetCookies(t)
	presentProxyUser(t)
}

// presentProxyUser mints tokens with good credentials and with proxy headers that name a user. It
// records a finding if the tokens are refused without those headers, because the headers then
// determine the user.
func presentProxyUser(t *review.T) {
	if len(t.Oracles) == 0 {
		return
	}
	c, o := t.Client, t.Oracles[0]
	own := c.Target.Headers
	defer func() { c.Target.Headers = own }()
	named := slices.Clone(own)
	for _, name := range proxyHeaders {
		named = append(named, rawmcp.Header{Name: name, Value: "sealab-user"})
	}
	var a client.Answer
	for range 2 {
		c.Target.Headers = named
		token, _, err := c.Mint(t.Context, o.Flow, client.FirstUser)
		if err != nil || o.Verdict(c.Present(t.Context, o.Flow, jsondoc.Quote(token), client.FirstUser)) != review.Accepted {
			return
		}
		token, _, err = c.Mint(t.Context, o.Flow, client.FirstUser)
		c.Target.Headers = own
		if err != nil {
			return
		}
		a = t.Tried(c.Present(t.Context, o.Flow, jsondoc.Quote(token), client.FirstUser))
		if o.Verdict(a) != review.Refused {
			return
		}
	}
	t.Fault("headers of proxies", review.Critical, "a header such as "+proxyHeaders[0]+" names the user of a good credential", a)
}
