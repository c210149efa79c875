package review

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"sealab/internal/rawmcp"
)

// telling are the checks of what a server tells beside its answers.
var telling = []Check{
	{ID: "H-TOLD", Name: "a state or a credential in a header of the response", Over: "http", Era: "modern", Severity: Warning, Category: "security",
		Sent: "honest requests, and the first flow's token, good and changed; the headers of the responses are searched", Want: "neither the state nor the credential", Source: "RFC 9110, section 17; CWE-598, CWE-524",
		Impact: "logs, caches and monitors keep headers, and a browser sends a cookie again by itself", Fix: "write states into the body alone, and repeat no credential", Run: toldInHeaders},
	{ID: "H-PATH", Name: "settings beside the endpoint", Over: "http", Severity: Critical, Category: "security",
		Sent: "GET of an unknown path with a tag of HTML, and of /.env, /env, /debug, /debug/vars, /config.json, /actuator/env, /health, /metrics and /.well-known/jwks.json, without credentials", Want: "no secret, and no tag", Source: "CWE-215, CWE-538, CWE-79",
		Impact: "whoever reaches the server reads its keys, and forges states with them", Fix: "serve no settings, or bind them to another address behind credentials", Run: settings},
}

func toldInHeaders(t *T) {
	_, secret := t.r.opts.Target.authorization()
	look := func(name string, a Answer, states ...string) {
		if a.Exchange == nil || a.Exchange.Status == 0 || len(t.findings) > 0 {
			return
		}
		t.seen(variant{name: name}, a)
		for _, header := range sortedKeys(a.Exchange.Headers) {
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
					t.fault(header, Warning, fmt.Sprintf("the header %s of the response holds %s", header, text), a)
					return
				}
			}
		}
	}
	look("a list", t.r.client.call(t.ctx, listCall))
	if len(t.r.oracles) == 0 {
		return
	}
	f := t.r.oracles[0].flow
	token, a, err := t.r.client.mint(t.ctx, f, first)
	if err != nil {
		t.skip("%v", err)
		return
	}
	look("a question", a, token)
	look("a good state", t.r.client.present(t.ctx, f, quote(token), first), token)
	changed := token + "sealab"
	look("a changed state", t.r.client.present(t.ctx, f, quote(changed), first), changed, token)
}

// settingPaths are paths at which servers show their settings.
var settingPaths = []string{"/.env", "/env", "/debug", "/debug/vars", "/config.json", "/actuator/env", "/health", "/metrics", "/.well-known/jwks.json"}

// setting is a name that tells of a secret, with a value that may be one.
var setting = regexp.MustCompile(`(?i)([\w.-]*(?:secret|passw|hmac|(?:api|private|state|signing|session|encryption)[_.-]?key|access[_.-]?token)[\w.-]*)["']?\s*[:=]\s*(?:\{\s*"value"\s*:\s*)?["']?([A-Za-z0-9+/_=-]{16,})`)

// secretJWK is the secret part of a key in a set of keys (RFC 7517, RFC 7518).
var secretJWK = regexp.MustCompile(`"(k|d)"\s*:\s*"([A-Za-z0-9_-]{16,})"`)

// naming is the end of a name whose value tells of a secret without being one.
var naming = regexp.MustCompile(`(?i)(ids?|names?|fingerprints?|hash|digest|sha256|version|url|uri|path|file)$`)

// digits are those of a random value, which names and words have hardly any of.
var digits = regexp.MustCompile(`[0-9](?:\D*[0-9]){2}`)

// secretSetting returns the first setting of a page that looks like a secret, and its name.
func secretSetting(page []byte) (name, value string) {
	if found := secretJWK.FindSubmatch(page); found != nil && bytes.Contains(page, []byte(`"kty"`)) {
		return "the member " + string(found[1]) + " of a key", string(found[2])
	}
	if found := passwordInError.Find(page); found != nil {
		return "a URL with a password", string(found)
	}
	for _, found := range setting.FindAllSubmatch(page, -1) {
		if !naming.Match(found[1]) && digits.Match(found[2]) {
			return string(found[1]), string(found[2])
		}
	}
	return "", ""
}

func settings(t *T) {
	get := func(path string) *rawmcp.Exchange {
		e := t.r.client.raw(t.ctx, rawmcp.Request{Verb: "GET", Path: path, Headers: []rawmcp.Header{{Name: "Host", Value: t.r.client.http.Host()}, {Name: "Accept", Value: "*/*"}, {Name: "Connection", Value: "close"}}, Done: func([]byte) bool { return true }})
		t.trials++
		return e
	}
	other := get("/sealab-no-such-path%3Csealab%3E")
	if isPage(other, "<sealab>") {
		t.refute(Finding{Case: "an unknown path", Severity: Warning, Issue: "a page repeats the path of its request as HTML", Evidence: fmt.Sprintf("%s -> %s", sent(other), short(string(other.Body), 200)), Want: "&lt;", Got: "<"})
		return
	}
	for _, path := range settingPaths {
		e := get(path)
		name, value := secretSetting(e.Body)
		if e.Status != 200 || value == "" || string(other.Body) == string(e.Body) {
			continue
		}
		severity, whose := Warning, "a value named "+short(name, 40)
		if t.r.keyOfStates(value) {
			severity, whose = Critical, "the key of the states"
		}
		t.refute(Finding{Case: path, Severity: severity, Issue: fmt.Sprintf("GET %s shows %s to everybody", path, whose),
			Evidence: fmt.Sprintf("%s -> status 200, with %s", sent(e), short(name, 40)), Want: "no secret", Got: "shown"})
		return
	}
}

// isPage reports whether a response is a page that a browser shows, with a tag in it.
func isPage(e *rawmcp.Exchange, tag string) bool {
	return strings.HasPrefix(e.Header("Content-Type"), "text/html") && bytes.Contains(e.Body, []byte(tag)) && e.Header("Content-Security-Policy") == ""
}

// keyOfStates reports whether a readable token has its tag under a key.
func (r *Review) keyOfStates(word string) bool {
	for _, o := range r.oracles {
		for _, key := range append(lastParts(word), word) {
			if len(views(o.token)) > 0 && hmacUnder([]byte(key)).tags(o.token) {
				return true
			}
		}
	}
	return false
}

// stackTrace are texts of stack traces in several languages, as they stand in JSON.
var stackTrace = regexp.MustCompile(`goroutine \d+ \[|\\n\s+at [^\s"]+ \([^"]*:\d+:\d+\)|Traceback \(most recent|File \\?"[^"]+", line \d+|panicked at `)

// pathInError is the path of a file in an error of the operating system.
var pathInError = regexp.MustCompile(`(?:ENOENT|EACCES|EISDIR|\[Errno \d+\]|FileNotFoundException)[^"]*?(/[\w.+-]+/[\w.+/-]+)|\bopen (/[\w.+-]+/[\w.+/-]+): no such file`)

// sourceInError is the path of a source file.
var sourceInError = regexp.MustCompile(`(?:^|[\s"'(\[=])(?:[A-Za-z]:)?(?:[/\\]{1,2}[\w.@+-]+){2,}\.(?:py|js|mjs|cjs|ts|go|rb|rs|php|java|kt|cs|ex|exs)\b`)

// passwordInError is a URL with a name and a password.
var passwordInError = regexp.MustCompile(`\b[a-z][a-z0-9+.-]+://[^\s:@/"<>]+:[^\s:@/"<>*]{3,}@[\w.-]+`)

// insides returns the part of an error that shows a stack trace, a password, or the path
// of a file that the request does not name; nil if there is none. Tools and pages may
// speak of source files. A tool over standard streams works on the files of its user.
func (a Answer) insides() []byte {
	e := a.Exchange
	if found := stackTrace.Find(e.Body); found != nil {
		return found
	}
	if found := passwordInError.Find(e.Body); found != nil && !bytes.Contains(e.Sent, found) {
		return found
	}
	text := a.Message + "\n" + string(a.Data)
	_, value := secretSetting([]byte(text))
	if found := cmp.Or(knownKeys.FindString(text), value); found != "" && !bytes.Contains(e.Sent, []byte(found)) {
		return []byte(found)
	}
	if found := sourceInError.FindString(a.Message); a.Kind == failed && found != "" && !bytes.Contains(e.Sent, []byte(strings.Trim(found, ` "'([=`))) {
		return []byte(found)
	}
	found := pathInError.FindSubmatch(e.Body)
	if ofItsUser := a.Kind == toolError && e.Status == 0; ofItsUser || found == nil || bytes.Contains(e.Sent, append(found[1], found[2]...)) {
		return nil
	}
	return found[0]
}
