package review

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"

	"sealab/internal/rawmcp"
)

// resourceMetadata is the check of the document that leads clients to the authorization
// server (RFC 9728).
var resourceMetadata = []Check{
	{ID: "A-META", Name: "the metadata of a protected resource", Over: "http", Severity: Warning, Category: "security",
		Sent: "GET of the document that WWW-Authenticate names, or of the well-known paths, without credentials; once more with X-Forwarded-Host", Want: "a resource without a fragment and at least one authorization server, both with https beyond this machine, that no header of the request changes",
		Source: "revision 2026-07-28, basic/authorization; RFC 9728, sections 2, 3 and 5; RFC 8707, section 2; RFC 8414, section 2",
		Impact: "clients cannot log in, or ask for tokens at a place that another one chose", Fix: "serve a fixed document with the configured URL of the server and of its authorization servers", Run: metadata},
}

// metadataParameter is the parameter of a challenge with the URL of the document.
var metadataParameter = regexp.MustCompile(`(?i)\bresource_metadata\s*=\s*"?([^",\s]+)`)

// wellKnownMetadata is the path of the document (RFC 9728, section 3).
const wellKnownMetadata = "/.well-known/oauth-protected-resource"

// metadataHost is the name in a header of proxies.
const metadataHost = "sealab.example"

func metadata(t *T) {
	refused := t.listedAs(nil)
	if refused.Exchange == nil || refused.Status != 401 {
		t.skip("the server does not answer 401 without credentials: %v", refused)
		return
	}
	named := metadataParameter.FindStringSubmatch(refused.Exchange.Header("Www-Authenticate"))
	if named != nil {
		t.trials++
		u, err := url.Parse(named[1])
		switch {
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
			t.metadataFault("the challenge", "resource_metadata is no URL: "+short(named[1], 100), refused.Exchange)
			return
		case u.Host != t.r.client.http.Host():
			t.skip("the document stands at another host: %s", short(u.Host, 60))
			return
		}
		t.judgeMetadata(u.RequestURI(), true)
		return
	}
	path, _, _ := strings.Cut(t.r.client.http.Path(), "?")
	for _, path := range []string{wellKnownMetadata + strings.TrimSuffix(path, "/"), wellKnownMetadata} {
		if t.judgeMetadata(path, false) {
			return
		}
	}
	if t.trials == 0 {
		t.skip("the server has no metadata of OAuth")
	}
}

func (t *T) metadataFault(name, issue string, e *rawmcp.Exchange) {
	t.refute(Finding{Case: name, Severity: Warning, Issue: issue, Evidence: fmt.Sprintf("%s -> status %d, %s", sent(e), e.Status, short(string(e.Body), 300)), Want: "see the check", Got: issue})
}

// metadataAt gets the document without credentials.
func (t *T) metadataAt(path string, more ...rawmcp.Header) *rawmcp.Exchange {
	headers := append([]rawmcp.Header{{Name: "Host", Value: t.r.client.http.Host()}, {Name: "Accept", Value: "application/json"}, {Name: "Connection", Value: "close"}}, more...)
	return t.r.client.raw(t.ctx, rawmcp.Request{Verb: "GET", Path: path, Headers: headers, Done: func([]byte) bool { return true }})
}

// judgeMetadata judges the document at a path; it reports whether there is one. One that
// the challenge names has to be there.
func (t *T) judgeMetadata(path string, named bool) bool {
	e := t.metadataAt(path)
	document := members(e.Body)
	if e.Status != 200 || document["resource"] == nil && document["authorization_servers"] == nil {
		if named && e.Status >= 400 && e.Status < 500 && e.Status != 429 {
			t.metadataFault(path, fmt.Sprintf("the metadata that WWW-Authenticate names is refused with status %d", e.Status), e)
		}
		return false
	}
	t.trials++
	if issue := metadataIssue(document); issue != "" {
		t.metadataFault(path, issue, e)
		return true
	}
	if name, value := secretSetting(e.Body); value != "" {
		t.metadataFault(path, "the metadata shows a value named "+short(name, 40), e)
		return true
	}
	forwarding := rawmcp.Header{Name: "X-Forwarded-Host", Value: metadataHost}
	forwarded := t.metadataAt(path, forwarding)
	if t.trials++; forwarded.Status == 200 && strings.Contains(string(forwarded.Body), metadataHost) {
		t.metadataFault(path+", X-Forwarded-Host", "the metadata names the host of a header of the request", forwarded)
		return true
	}
	again := t.listedAs([]rawmcp.Header{forwarding})
	if t.trials++; again.Status == 401 && strings.Contains(again.Exchange.Header("Www-Authenticate"), metadataHost) {
		t.metadataFault("the challenge, X-Forwarded-Host", "WWW-Authenticate names the host of a header of the request: "+short(again.Exchange.Header("Www-Authenticate"), 100), again.Exchange)
	}
	return true
}

// metadataIssue is the fault of a document by its form alone; "" if it has none.
func metadataIssue(document map[string]json.RawMessage) string {
	var resource string
	var servers, methods []string
	if json.Unmarshal(document["resource"], &resource) != nil || resource == "" {
		return "the metadata has no resource"
	}
	if json.Unmarshal(document["authorization_servers"], &servers) != nil || len(servers) == 0 {
		return "the metadata names no authorization server"
	}
	if u, err := url.Parse(resource); err != nil || strings.Contains(resource, "#") || !secured(u) {
		return "the resource is no https URL without a fragment: " + short(resource, 100)
	}
	for _, s := range servers {
		if u, err := url.Parse(s); err != nil || strings.ContainsAny(s, "?#") || !secured(u) {
			return "an authorization server is no https URL without a query and a fragment: " + short(s, 100)
		}
	}
	_ = json.Unmarshal(document["bearer_methods_supported"], &methods) // optional
	for _, m := range methods {
		if m == "query" {
			return "the metadata asks for credentials in the URL"
		}
	}
	return ""
}

// secured reports whether a URL is one of https, or of this machine.
func secured(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || strings.HasSuffix(u.Hostname(), ".localhost") || ip != nil && (ip.IsLoopback() || ip.IsPrivate())
	return u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && local)
}
