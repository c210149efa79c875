package review

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"sealab/internal/rawmcp"
)

// reaching are the checks of pages of other sites, over HTTP.
var reaching = []Check{
	{ID: "H-ORIGIN", Name: "a foreign Origin", Over: "http", Severity: Critical, Category: "security",
		Sent: "Origin: https://evil.example, null, http://localhost.evil.example, garbage, made-up extensions of browsers, and names that begin or end as those of known clients and of an origin that the server names; the first also with the server in Referer, and before each method", Want: "status 403", Source: transportSpec + ", MUST validate Origin",
		Impact: "a page of any site calls the server of whoever looks at it; with a Host that is not checked, by DNS rebinding and reads the answers", Fix: "refuse requests whose Origin is not allowed; the SDK has an option for it", Run: origins},
	{ID: "H-HOST", Name: "a foreign Host", Over: "http", Severity: Critical, Category: "security",
		Sent: "Host: evil.example, with the port, names that begin or end as those of this machine, with headers of proxies", Want: "refused, on this machine", Source: "CVE-2025-66414; " + transportSpec,
		Impact: "DNS rebinding: a page under a foreign name reads what the server answers", Fix: "compare Host with the names of this machine; the SDK has an option for it", Run: hosts},
	{ID: "H-CORS", Name: "an answer for pages of any origin", Over: "http", Severity: Warning, Category: "security",
		Sent: "requests and a preflight from https://evil.example, a request from null and from http://localhost.evil.example; both from names that begin or end as those of known clients and of an origin that the server names", Want: "no Access-Control-Allow-Origin for them", Source: "Fetch, section 3.2",
		Impact: "a page of any site reads what the server answers", Fix: "name the origins that may read", Run: cors},
	{ID: "H-TYPE", Name: "a body of another type", Over: "http", Era: "modern", Severity: Warning, Category: "transport",
		Sent: "Content-Type text/plain, also with JSON as a parameter, forms, none; what is served once more with a foreign Origin", Want: "status 415 or 400", Source: transportSpec,
		Impact: "a page can send it without a preflight", Fix: "take application/json alone", Run: contentTypes},
}

// onLoopback reports whether the target is this machine.
func (r *Review) onLoopback() bool {
	if r.client.http == nil {
		return false
	}
	ip := net.ParseIP(r.client.http.Hostname())
	return r.client.http.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

func origins(t *T) {
	own := t.anyRequest(func(w *wire) { w.set("Origin", "http://"+t.r.client.http.Host()) })
	w := t.wire(listCall)
	own.alter(w)
	honest := t.send(w)
	severity := Warning
	if t.r.onLoopback() && t.hostServed() {
		severity = Critical
	}
	var all []wireCase
	for _, o := range []string{"https://evil.example", "null", "http://localhost.evil.example", "http://evil-localhost", "https://evil-localhost", "http://evil.example:" + portOf(t.r.client.http.Host()), "http://evil-localhost:" + portOf(t.r.client.http.Host()), "http://" + t.r.client.http.Hostname() + ".evil.example", "garbage",
		"chrome-extension://sealabsealabsealabsealabsealabse", "moz-extension://5ea1ab00-5ea1-4b00-85ea-1ab005ea1ab0"} {
		c := t.anyRequest(func(w *wire) { w.set("Origin", o) })
		c.name, c.judge = "Origin: "+o, wantRefused(severity)
		all = append(all, c)
	}
	referred := t.anyRequest(func(w *wire) {
		w.set("Origin", "https://evil.example")
		w.set("Referer", "https://evil.example/?http://localhost/,http://"+t.r.client.http.Host())
	})
	referred.name, referred.judge = "Origin: https://evil.example, with the server in Referer", wantRefused(severity)
	all = append(all, referred)
	for _, o := range t.lookalikes() {
		c := t.anyRequest(func(w *wire) { w.set("Origin", o) })
		c.name, c.judge = "Origin: "+o, wantRefused(severity)
		all = append(all, c)
	}
	all = append(all, t.everywhere("Origin: https://evil.example", severity, func(w *wire, _ string) { w.set("Origin", "https://evil.example") })...)
	if !honest.conclusive() {
		t.skip("control: the server's own origin: %v", honest)
		return
	}
	t.cases(all...)
	t.findings = t.findings[:min(len(t.findings), 1)]
}

func portOf(host string) string {
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		return "80"
	}
	return port
}

// hostServed reports whether a foreign Host is served.
func (t *T) hostServed() bool {
	w := t.wire(listCall)
	t.anyRequest(func(w *wire) { w.set("Host", "evil.example") }).alter(w)
	return served(t.send(w))
}

func hosts(t *T) {
	if !t.r.onLoopback() {
		t.skip("a server that is not on this machine may be known by any name")
		return
	}
	var all []wireCase
	for _, h := range []string{"evil.example", "evil.example:" + portOf(t.r.client.http.Host()), "localhost.evil.example",
		t.r.client.http.Hostname() + ".evil.example", t.r.client.http.Hostname() + ".evil.example:" + portOf(t.r.client.http.Host()), "evil-localhost"} {
		c := t.anyRequest(func(w *wire) { w.set("Host", h) })
		c.name, c.judge = "Host: "+h, wantRefused(Critical)
		all = append(all, c)
	}
	for _, forwarded := range [][2]string{{"X-Forwarded-Host", "localhost"}, {"Forwarded", "host=localhost"}, {"X-Original-Host", "localhost"}, {"X-Host", "localhost"}} { // which a page may set
		c := t.anyRequest(func(w *wire) {
			w.set("Host", "evil.example")
			w.set(forwarded[0], forwarded[1])
		})
		c.name, c.judge = "Host: evil.example, "+forwarded[0]+": "+forwarded[1], wantRefused(Critical)
		all = append(all, c)
	}
	t.cases(all...)
	t.findings = t.findings[:min(len(t.findings), 1)]
}

// corsOrigins are of pages that no server trusts; null is that of a frame in a sandbox.
var corsOrigins = []string{"https://evil.example", "null", "http://localhost.evil.example"}

func cors(t *T) {
	judge := func(origin string) func(Answer) (Severity, string) {
		return func(a Answer) (Severity, string) {
			if a.Exchange == nil {
				return "", ""
			}
			switch allowed := a.Exchange.Header("Access-Control-Allow-Origin"); {
			case allowed == "*" && len(t.r.opts.Target.Headers) == 0:
				return Suggestion, "every page may read the answer"
			case allowed == "*", allowed == origin:
				return Warning, "a page of " + origin + " may read the answer"
			}
			return "", ""
		}
	}
	var all []wireCase
	for i, origin := range corsOrigins {
		request := t.anyRequest(func(w *wire) { w.set("Origin", origin) })
		request.name, request.judge = "a request", judge(origin)
		if i > 0 {
			request.name += " from " + origin
		}
		all = append(all, request)
	}
	preflight := t.preflight(corsOrigins[0])
	preflight.name, preflight.judge = "a preflight", judge(corsOrigins[0])
	all = append(all, preflight)
	for _, origin := range t.lookalikes() {
		request, preflight := t.anyRequest(func(w *wire) { w.set("Origin", origin) }), t.preflight(origin)
		request.name, request.judge = "a request from "+origin, judge(origin)
		preflight.name, preflight.judge = "a preflight from "+origin, judge(origin)
		all = append(all, request, preflight)
	}
	t.cases(all...)
	t.findings = t.findings[:min(len(t.findings), 2)]
}

// preflight asks whether a page may send a request with credentials.
func (t *T) preflight(origin string) wireCase {
	return t.anyRequest(func(w *wire) {
		w.verb, w.body = "OPTIONS", nil
		w.set("Origin", origin)
		w.set("Access-Control-Request-Method", "POST")
		w.set("Access-Control-Request-Headers", "authorization, content-type, mcp-protocol-version")
	})
}

// clientHosts are hosts of pages that servers often allow.
var clientHosts = []string{"claude.ai", "chatgpt.com", "example.com", "app.example.com"}

// lookalikes are origins that a careless comparison takes for those of known clients, or
// for the origin that the server names to a page of another one.
func (t *T) lookalikes() []string {
	hosts := slices.Clone(clientHosts)
	w := t.wire(listCall)
	t.anyRequest(func(w *wire) { w.set("Origin", corsOrigins[0]) }).alter(w)
	for _, a := range []Answer{t.listedAs(t.r.opts.Target.Headers), t.send(w)} {
		if a.Exchange == nil {
			continue
		}
		u, err := url.Parse(a.Exchange.Header("Access-Control-Allow-Origin"))
		if err == nil && u.Hostname() != "" && u.String() != corsOrigins[0] && net.ParseIP(u.Hostname()) == nil {
			hosts = append(hosts, u.Hostname())
		}
	}
	var all []string
	for _, host := range hosts {
		for _, other := range []string{"evil-" + host, host + ".evil.example", strings.Replace(host, ".", "x", 1)} {
			if origin := "https://" + other; !slices.Contains(all, origin) {
				all = append(all, origin)
			}
		}
	}
	return all
}

// simpleTypes are those that a page may send without a preflight, one that names JSON in a
// parameter, and none.
var simpleTypes = []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", "text/plain; a=application/json", ""}

func contentTypes(t *T) {
	var all []wireCase
	for _, v := range simpleTypes {
		typed := func(w *wire) {
			if w.set("Content-Type", v); v == "" {
				w.drop("Content-Type")
			}
		}
		all = append(all, wireCase{name: "Content-Type " + v, alter: typed, judge: func(a Answer) (Severity, string) {
			if !served(a) {
				return "", ""
			}
			w := t.wire(listCall)
			typed(w)
			w.set("Origin", "https://evil.example")
			if t.send(w).refused() {
				return Suggestion, "served, though not to pages"
			}
			return Warning, "served"
		}})
	}
	t.cases(all...)
}

func sessionOrigin(t *T) {
	if _, ok := t.open(older, first); !ok {
		return
	}
	c := wireCase{name: "Origin: https://evil.example", alter: func(w *wire) {
		t.initializing(w, older)
		w.set("Origin", "https://evil.example")
	}}
	severity := Warning
	w := t.initialize(older)
	w.set("Host", "evil.example")
	if t.r.onLoopback() && served(t.send(w)) {
		severity = Critical
	}
	if w = t.initialize(older); !t.r.modern() {
		if w.set("Origin", "https://evil.example"); served(t.send(w)) {
			t.skip("initialize is served with a foreign Origin: see H-ORIGIN")
			return
		}
	}
	c.judge = wantRefused(severity)
	t.oneCase(c)
	for i := range t.findings {
		t.findings[i].Revision = older
	}
	if len(t.findings) == 0 {
		t.originsInSession(severity)
	}
}

// originsInSession sends foreign origins after the handshake, where some servers no longer
// look at them.
func (t *T) originsInSession(severity Severity) {
	s, ok := t.opened()
	if !ok {
		return
	}
	for _, o := range []string{"https://evil.example", "null"} {
		headers := append(t.r.client.sessionHeaders(s, first), rawmcp.Header{Name: "Origin", Value: o})
		a := t.r.client.rawCall(t.ctx, headers, []byte(t.oldList()))
		if t.trials++; a.Kind == completed {
			t.refute(Finding{Case: "Origin: " + o + ", in a session", Severity: severity, Issue: "tools/list with Origin " + o + " is served in a session", Evidence: sent(a.Exchange) + " -> " + a.String(), Want: "403", Got: "served", Revision: older})
			return
		}
	}
	e := t.streamOf(s, first, rawmcp.Header{Name: "Origin", Value: "https://evil.example"})
	if e.Stream {
		t.refute(Finding{Case: "Origin: https://evil.example, GET", Severity: Warning, Issue: "GET with Origin https://evil.example opens a stream, and POST is refused", Evidence: sent(e) + " -> status 200", Want: "403", Got: "200", Revision: older})
	}
}
