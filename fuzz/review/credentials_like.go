package review

import (
	"encoding/base64"
	"slices"
	"strings"

	"sealab/internal/rawmcp"
)

// A likeCredential is what resembles a credential.
type likeCredential struct {
	name     string
	headers  []rawmcp.Header
	severity Severity
}

func likenesses(scheme, secret string) []likeCredential {
	var all []likeCredential
	for _, l := range []struct {
		name, value string
		severity    Severity
	}{
		{"one character of a credential", scheme + " " + secret[:1], Critical},
		{"half a credential", scheme + " " + secret[:len(secret)/2], Critical},
		{"a credential with more characters", scheme + " " + secret + "x", Critical},
		{"a credential with another character", scheme + " " + otherCharacter(secret), Critical},
		{"a credential behind a made-up word", scheme + " sealab " + secret, Suggestion},
		{"a credential in the other case", scheme + " " + swapCase(secret), Warning},
		{"a credential of three words and full stops", scheme + " a.b.c", Critical}, {"a credential of full stops", scheme + " ..", Critical}, {"a credential of odd characters", scheme + " {%00\xff", Critical},
		{"an empty credential", scheme + " ", Critical}, {"an empty header", "", Critical},
		{"the credential null", scheme + " null", Critical}, {"the credential undefined", scheme + " undefined", Critical},
		{"half a credential and a pattern of any text", scheme + " " + secret[:len(secret)/2] + ".*", Critical},
		{"half a credential and a pattern of SQL", scheme + " " + secret[:len(secret)/2] + "%", Critical},
		{"a condition of SQL", scheme + " sealab'OR'1'='1", Critical},
		{"a credential of another scheme", "Sealab " + secret, Suggestion}, {"a credential without its scheme", secret, Suggestion},
	} {
		if l.value != scheme+" "+secret {
			all = append(all, likeCredential{l.name, []rawmcp.Header{{Name: "Authorization", Value: l.value}}, l.severity})
		}
	}
	var cookies []string
	for _, name := range cookieNames {
		cookies = append(cookies, name+"="+secret)
	}
	all = append(all, likeCredential{"a credential in a cookie", []rawmcp.Header{{Name: "Cookie", Value: strings.Join(cookies, "; ")}}, Warning},
		likeCredential{"a credential behind a made-up one", []rawmcp.Header{{Name: "Authorization", Value: madeUp(scheme + " x")}, {Name: "Authorization", Value: scheme + " " + secret}}, Suggestion})
	if !strings.EqualFold(scheme, "Basic") {
		for _, as := range [][2]string{{"name", secret + ":"}, {"password", "sealab:" + secret}} {
			all = append(all, likeCredential{"a credential as a " + as[0] + " of Basic", []rawmcp.Header{{Name: "Authorization", Value: "Basic " + base64.StdEncoding.EncodeToString([]byte(as[1]))}}, Warning})
		}
	}
	for _, name := range proxyHeaders {
		for _, value := range []string{"admin", secret} {
			all = append(all, likeCredential{"the header " + name, []rawmcp.Header{{Name: name, Value: value}}, Critical})
		}
	}
	var nearby []rawmcp.Header
	for _, name := range addressHeaders {
		nearby = append(nearby, rawmcp.Header{Name: name, Value: "127.0.0.1"})
	}
	all = append(all, likeCredential{"headers that rewrite the request", []rawmcp.Header{{Name: "X-Original-URL", Value: "/"}, {Name: "X-Rewrite-URL", Value: "/"}, {Name: "X-HTTP-Method-Override", Value: "OPTIONS"}}, Critical})
	return append(all, likeCredential{"the address of this machine in headers of proxies", append(nearby, rawmcp.Header{Name: "Forwarded", Value: "for=127.0.0.1"}), Critical})
}

// otherCharacter changes the last character but one of a credential: the last one of
// base64 may have bits that count for nothing.
func otherCharacter(secret string) string {
	i := max(len(secret)-2, 0)
	other := "0"
	if secret[i] == '0' {
		other = "1"
	}
	return secret[:i] + other + secret[i+1:]
}

func likeCredentials(t *T) {
	scheme, secret := t.r.opts.Target.authorization()
	if secret == "" {
		t.skip("no credential of an Authorization header is known; --header gives one")
		return
	}
	if !t.wanting() {
		return
	}
	for _, l := range likenesses(scheme, secret) {
		if t.only != "" && t.only != l.name {
			continue
		}
		a := t.listedAs(l.headers)
		if !a.conclusive() {
			continue
		}
		t.seen(variant{name: l.name}, a)
		if served(a) {
			t.fault(l.name, l.severity, l.name+" is taken", a)
		}
	}
	t.setCookies()
	t.renamedUser()
}

// renamedUser mints tokens with good credentials and headers of proxies that name a user.
// It refutes if they are refused without those headers: the headers are the user.
func (t *T) renamedUser() {
	if len(t.r.oracles) == 0 {
		return
	}
	c, o := t.r.client, t.r.oracles[0]
	own := c.target.Headers
	defer func() { c.target.Headers = own }()
	named := slices.Clone(own)
	for _, name := range proxyHeaders {
		named = append(named, rawmcp.Header{Name: name, Value: "sealab-user"})
	}
	var a Answer
	for range 2 {
		c.target.Headers = named
		token, _, err := c.mint(t.ctx, o.flow, first)
		if err != nil || o.verdict(c.present(t.ctx, o.flow, quote(token), first)) != accepted {
			return
		}
		token, _, err = c.mint(t.ctx, o.flow, first)
		c.target.Headers = own
		if err != nil {
			return
		}
		a = c.present(t.ctx, o.flow, quote(token), first)
		if t.seen(variant{name: "headers of proxies"}, a); o.verdict(a) != refused {
			return
		}
	}
	t.fault("headers of proxies", Critical, "a header such as "+proxyHeaders[0]+" names the user of a good credential", a)
}
