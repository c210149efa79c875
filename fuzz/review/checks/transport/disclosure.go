package transport

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// disclosureChecks are the checks for secrets that a server reveals outside its results.
var disclosureChecks = []review.Check{
	{
		ID: "H-TOLD", Name: "a state or a credential in a response header", Over: "http", Era: "modern", Severity: review.Warning, Category: "security",
		Sent: "tools/list, a call that asks, and its token unaltered and altered; the check searches the headers " +
			"of the responses",
		Want:   "writes neither the state nor the credential into a header",
		Source: "RFC 9110, section 17; CWE-598, CWE-524",
		Impact: "logs, caches and monitoring store headers, and a browser returns cookies automatically",
		Fix:    "write states only into the body, and do not repeat credentials",
		Run:    checkResponseHeaders,
	},
	{
		ID: "H-PATH", Name: "settings published beside the endpoint", Over: "http", Severity: review.Critical, Category: "security",
		Sent: "without credentials, GET of an unknown path that contains an HTML tag, and of /.env, /env, /debug, " +
			"/debug/vars, /config.json, /actuator/env, /health, /metrics and /.well-known/jwks.json",
		Want:   "reveals no secret and no folder of the server, and repeats no tag in an HTML page",
		Source: "CWE-209, CWE-215, CWE-538, CWE-79",
		Impact: "anybody who reaches the server reads its secrets, and forges states if the key of the states is " +
			"among them",
		Fix: "publish no settings, or serve them at another address that requires credentials",
		Run: checkPublishedSettings,
	},
}

func checkResponseHeaders(t *review.T) {
	_, secret := t.Options.Target.Authorization()
	look := func(a client.Answer, states ...string) {
		if a.Exchange == nil || a.Exchange.Status == 0 || len(t.Findings) > 0 {
			return
		}
		t.Trials++
		for _, header := range jsondoc.SortedKeys(a.Exchange.Headers) {
			for _, value := range a.Exchange.Headers[header] {
				text := ""
				for _, state := range states {
					if len(state) >= 16 && strings.Contains(value, state) {
						text = "the state"
					}
				}
				// A short credential may be the name of its user.
				if secret != "" && strings.Contains(value, secret) && (len(secret) >= 16 || header == "Set-Cookie" || strings.Contains(value, " "+secret)) {
					text = "the credential"
				}
				if text != "" {
					t.Fault(header, review.Warning, fmt.Sprintf("the header %s of the response holds %s", header, text), a)
					return
				}
			}
		}
	}
	look(t.Call(t.Client.Listing))
	if len(t.Oracles) == 0 {
		return
	}
	f := t.Oracles[0].Flow
	token, a, err := t.Client.Mint(t.Context, f, client.FirstUser)
	if t.SkipOn(err) {
		return
	}
	look(a, token)
	look(t.Client.Present(t.Context, f, jsondoc.Quote(token), client.FirstUser), token)
	changed := token + "sealab"
	look(t.Client.Present(t.Context, f, jsondoc.Quote(changed), client.FirstUser), changed, token)
}

// settingPaths are paths at which servers publish their settings.
var settingPaths = []string{"/.env", "/env", "/debug", "/debug/vars", "/config.json", "/actuator/env", "/health", "/metrics", "/.well-known/jwks.json"}

func checkPublishedSettings(t *review.T) {
	get := func(path string) *rawmcp.Exchange {
		t.Trials++
		return t.Document(path, "*/*")
	}
	other := get("/sealab-no-such-path%3Csealab%3E")
	if isPage(other, "<sealab>") {
		t.Refute(review.Finding{Case: "an unknown path", Severity: review.Warning, Issue: "a page repeats the path of its request as HTML",
			Evidence: fmt.Sprintf("%s -> %s", review.SentText(other), client.Short(string(other.Body), 200)), Want: "&lt;", Got: "<"})
		return
	}
	if folder := folderInPage.Find(other.Body); folder != nil {
		t.Refute(review.Finding{Case: "the folder of an unknown path", Severity: review.Warning, Issue: "a page reveals the folder of the server",
			Evidence: fmt.Sprintf("%s -> %s", review.SentText(other), client.Short(string(folder), 200)), Want: "no folder", Got: "told"})
		return
	}
	for _, path := range settingPaths {
		e := get(path)
		name, value := client.SecretSetting(e.Body)
		if e.Status != 200 || value == "" || string(other.Body) == string(e.Body) {
			continue
		}
		severity, whose := review.Warning, "a value named "+client.Short(name, 40)
		if t.KeyOfStates(value) {
			severity, whose = review.Critical, "the key of the states"
		}
		t.Refute(review.Finding{Case: path, Severity: severity, Issue: fmt.Sprintf("GET %s shows %s to everybody", path, whose),
			Evidence: fmt.Sprintf("%s -> status 200, with %s", review.SentText(e), client.Short(name, 40)), Want: "no secret", Got: "shown"})
		return
	}
}

// folderInPage matches a folder of the server in front of the unknown path.
var folderInPage = regexp.MustCompile(`(?:/(?:srv|var|home|usr|opt|root|app|tmp|mnt|private|Users)|[A-Za-z]:)(?:[/\\][\w.+-]+)+[/\\]sealab-no-such-path`)

// isPage reports whether a response is an HTML page that contains a tag.
func isPage(e *rawmcp.Exchange, tag string) bool {
	return strings.HasPrefix(e.Header("Content-Type"), "text/html") && bytes.Contains(e.Body, []byte(tag)) && e.Header("Content-Security-Policy") == ""
}
