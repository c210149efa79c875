package transport

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// metadataChecks is the check of the document that names the authorization servers (RFC 9728).
var metadataChecks = []review.Check{
	{
		ID: "A-META", Name: "the metadata of a protected resource", Over: "http", Severity: review.Warning, Category: "security",
		Sent: "without credentials, GET of the document that resource_metadata in WWW-Authenticate names, or of " +
			"the well-known paths; the same with X-Forwarded-Host",
		Want: "returns a document with a resource without a fragment and at least one authorization server, both " +
			"with https unless they are local; includes no value from a request header and no secret",
		Source: "revision 2026-07-28, basic/authorization; RFC 9728, sections 2, 3 and 5; RFC 8707, section 2; RFC 8414, section 2",
		Impact: "clients cannot log in, or request tokens from a server that an attacker chose",
		Fix:    "serve a fixed document with the configured URLs of this server and of its authorization servers",
		Run:    checkMetadata,
	},
}

// metadataParameter matches the challenge parameter with the URL of the document.
var metadataParameter = regexp.MustCompile(`(?i)\bresource_metadata\s*=\s*"?([^",\s]+)`)

// wellKnownMetadata is the path of the document (RFC 9728, section 3).
const wellKnownMetadata = "/.well-known/oauth-protected-resource"

// metadataHost is the host name in a proxy header.
const metadataHost = "sealab.example"

func checkMetadata(t *review.T) {
	refused := t.ListedAs(nil)
	if refused.Exchange == nil || refused.Status != 401 {
		t.Skip("the server does not answer 401 without credentials: %v", refused)
		return
	}
	if named := metadataParameter.FindStringSubmatch(refused.Exchange.Header("Www-Authenticate")); named != nil {
		t.Trials++
		u, err := url.Parse(named[1])
		switch {
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
			metadataFault(t, "the challenge", "resource_metadata is no URL: "+client.Short(named[1], 100), refused.Exchange)
			return
		case u.Host != t.Client.HTTP.Host():
			t.Skip("the document stands at another host: %s", client.Short(u.Host, 60))
			return
		}
		judgeMetadata(t, u.RequestURI(), true)
		return
	}
	path, _, _ := strings.Cut(t.Client.HTTP.Path(), "?")
	for _, path := range []string{wellKnownMetadata + strings.TrimSuffix(path, "/"), wellKnownMetadata} {
		if judgeMetadata(t, path, false) {
			return
		}
	}
	t.SkipUntried("the server has no metadata of OAuth")
}

func metadataFault(t *review.T, name, issue string, e *rawmcp.Exchange) {
	t.Refute(review.Finding{Case: name, Severity: review.Warning, Issue: issue,
		Evidence: fmt.Sprintf("%s -> status %d, %s", review.SentText(e), e.Status, client.Short(string(e.Body), 300)), Want: "see the check", Got: issue})
}

// judgeMetadata judges the document at a path. It reports whether there is one. If named is set, a
// challenge names the document and a missing document is a fault.
func judgeMetadata(t *review.T, path string, named bool) bool {
	e := t.Document(path, "application/json")
	document := jsondoc.Members(e.Body)
	if e.Status != 200 || document["resource"] == nil && document["authorization_servers"] == nil {
		if named && e.Status >= 400 && e.Status < 500 && e.Status != 429 {
			metadataFault(t, path, fmt.Sprintf("the metadata that WWW-Authenticate names is refused with status %d", e.Status), e)
		}
		return false
	}
	t.Trials++
	if issue := metadataIssue(document); issue != "" {
		metadataFault(t, path, issue, e)
		return true
	}
	if name, value := client.SecretSetting(e.Body); value != "" {
		metadataFault(t, path, "the metadata shows a value named "+client.Short(name, 40), e)
		return true
	}
	forwarding := rawmcp.Header{Name: "X-Forwarded-Host", Value: metadataHost}
	forwarded := t.Document(path, "application/json", forwarding)
	if t.Trials++; forwarded.Status == 200 && strings.Contains(string(forwarded.Body), metadataHost) {
		metadataFault(t, path+", X-Forwarded-Host", "the metadata names the host of a header of the request", forwarded)
		return true
	}
	again := t.Tried(t.ListedAs([]rawmcp.Header{forwarding}))
	if again.Status == 401 && strings.Contains(again.Exchange.Header("Www-Authenticate"), metadataHost) {
		metadataFault(t, "the challenge, X-Forwarded-Host", "WWW-Authenticate names the host of a header of the request: "+client.Short(again.Exchange.Header("Www-Authenticate"), 100), again.Exchange)
	}
	return true
}

// metadataIssue returns the fault in the form of a document, or "".
func metadataIssue(document map[string]json.RawMessage) string {
	var servers, methods []string
	resource, _ := jsondoc.Text(document["resource"])
	if resource == "" {
		return "the metadata has no resource"
	}
	if json.Unmarshal(document["authorization_servers"], &servers) != nil || len(servers) == 0 {
		return "the metadata names no authorization server"
	}
	if u, err := url.Parse(resource); err != nil || strings.Contains(resource, "#") || !isSecureOrLocal(u) {
		return "the resource is no https URL without a fragment: " + client.Short(resource, 100)
	}
	for _, s := range servers {
		if u, err := url.Parse(s); err != nil || strings.ContainsAny(s, "?#") || !isSecureOrLocal(u) {
			return "an authorization server is no https URL without a query and a fragment: " + client.Short(s, 100)
		}
	}
	_ = json.Unmarshal(document["bearer_methods_supported"], &methods) // the member is optional
	if slices.Contains(methods, "query") {
		return "the metadata asks for credentials in the URL"
	}
	return ""
}

// isSecureOrLocal reports whether a URL uses https or is local.
func isSecureOrLocal(u *url.URL) bool {
	local := review.IsLoopback(u.Hostname()) || strings.HasSuffix(u.Hostname(), ".localhost") || net.ParseIP(u.Hostname()).IsPrivate()
	return u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && local)
}
