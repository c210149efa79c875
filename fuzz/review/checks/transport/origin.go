package transport

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

// originChecks are the checks of pages of other sites, over HTTP.
var originChecks = []review.Check{
	{
		ID: "H-ORIGIN", Name: "a foreign Origin", Over: "http", Severity: review.Critical, Category: "security",
		Sent: "requests with the Origin https://evil.example (once also with the server's address in Referer, and " +
			"with each method that the server has), null, http://localhost.evil.example, an invalid value, " +
			"unknown browser extensions, and names that begin or end like those of this machine, of known " +
			"clients, and of an origin that the server allows",
		Want:   "answers status 403",
		Source: transportSpec + ", MUST validate Origin",
		Impact: "a page of any site makes its visitor's browser call the server; if Host is not checked either, the " +
			"page also reads the answers by DNS rebinding",
		Fix: "refuse requests whose Origin is not on a list of allowed origins; the SDKs have an option for it",
		Run: checkOrigins,
	},
	{
		ID: "H-HOST", Name: "a foreign Host", Over: "http", Severity: review.Critical, Category: "security",
		Sent: "requests with Host evil.example, with and without the port, with each method that the server has, " +
			"and with the same name in Origin; with names that begin or end like those of this machine; with Host " +
			"evil.example and localhost in X-Forwarded-Host, Forwarded, X-Original-Host and X-Host; only on this " +
			"machine",
		Want:   "refuses the request",
		Source: "CVE-2025-66414; " + transportSpec,
		Impact: "by DNS rebinding, a page under a foreign name reads the answers of the server",
		Fix:    "compare Host with the names of this machine; the SDKs have an option for it",
		Run:    checkHosts,
	},
	{
		ID: "H-CORS", Name: "answers that pages of any origin may read", Over: "http", Severity: review.Warning, Category: "security",
		Sent: "a request from each of the origins https://evil.example, null and http://localhost.evil.example; a " +
			"preflight from https://evil.example; both from names that begin or end like those of known clients " +
			"and of an origin that the server allows",
		Want:   "sends no Access-Control-Allow-Origin that admits these origins",
		Source: "Fetch, section 3.2",
		Impact: "a page of any site reads the answers of the server",
		Fix:    "allow only origins on a list",
		Run:    checkCORS,
	},
	{
		ID: "H-TYPE", Name: "a body of another content type", Over: "http", Era: "modern", Severity: review.Warning, Category: "transport",
		Sent: "tools/list with Content-Type text/plain, text/plain with application/json as a parameter, the two " +
			"form types, and none; a request that is served is sent again with a foreign Origin",
		Want:   "answers status 415 or 400",
		Source: transportSpec,
		Impact: "a page of any site can send the request without a preflight",
		Fix:    "accept only application/json",
		Run:    checkContentTypes,
	},
}

func checkOrigins(t *review.T) {
	honest := t.SendAny(client.WithHeader("Origin", "http://"+t.Client.HTTP.Host()))
	severity := review.Warning
	if t.OnLoopback() && hostServed(t) {
		severity = review.Critical
	}
	origins := []string{"https://evil.example", "null", "http://localhost.evil.example", "http://evil-localhost", "https://evil-localhost",
		"http://evil.example:" + portOf(t.Client.HTTP.Host()), "http://evil-localhost:" + portOf(t.Client.HTTP.Host()),
		"http://" + t.Client.HTTP.Hostname() + ".evil.example", "garbage",
		"chrome-extension://sealabsealabsealabsealabsealabse", "moz-extension://5ea1ab00-5ea1-4b00-85ea-1ab005ea1ab0"}
	cases := func(origins []string) (all []review.Case) {
		for _, o := range origins {
			all = append(all, t.AnyRequest("Origin: "+o, review.WantRefused(severity), client.WithHeader("Origin", o)))
		}
		return all
	}
	all := append(cases(origins), t.AnyRequest("Origin: https://evil.example, with the server in Referer", review.WantRefused(severity), func(w *client.Request) {
		w.Set("Origin", "https://evil.example")
		w.Set("Referer", "https://evil.example/?http://localhost/,http://"+t.Client.HTTP.Host())
	}))
	all = append(all, cases(similarOrigins(t))...)
	all = append(all, alteredCalls(t, "Origin: https://evil.example", severity, func(w *client.Request, _ string) { w.Set("Origin", "https://evil.example") })...)
	if !honest.Conclusive() {
		t.Skip("control: the server's own origin: %v", honest)
		return
	}
	t.Cases(all...)
	t.Findings = t.Findings[:min(len(t.Findings), 1)]
}

func portOf(host string) string {
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		return "80"
	}
	return port
}

// hostServed reports whether the server serves a foreign Host.
func hostServed(t *review.T) bool {
	return client.Served(t.SendAny(client.WithHeader("Host", "evil.example")))
}

func checkHosts(t *review.T) {
	if !t.OnLoopback() {
		t.Skip("a server that is not on this machine may be known by any name")
		return
	}
	var all []review.Case
	add := func(name string, alter func(*client.Request)) {
		all = append(all, t.AnyRequest(name, review.WantRefused(review.Critical), alter))
	}
	port := ":" + portOf(t.Client.HTTP.Host())
	for _, h := range []string{"evil.example", "evil.example" + port, "localhost.evil.example",
		t.Client.HTTP.Hostname() + ".evil.example", t.Client.HTTP.Hostname() + ".evil.example" + port, "evil-localhost"} {
		add("Host: "+h, client.WithHeader("Host", h))
	}
	for _, forwarded := range [][2]string{{"X-Forwarded-Host", "localhost"}, {"Forwarded", "host=localhost"}, {"X-Original-Host", "localhost"}, {"X-Host", "localhost"}} { // a page may set these headers
		add("Host: evil.example, "+forwarded[0]+": "+forwarded[1], func(w *client.Request) {
			w.Set("Host", "evil.example")
			w.Set(forwarded[0], forwarded[1])
		})
	}
	for _, h := range []string{"evil.example", "evil.example" + port} {
		add("Host and Origin: "+h, func(w *client.Request) {
			w.Set("Host", h)
			w.Set("Origin", "http://"+h)
		})
	}
	all = append(all, alteredCalls(t, "Host: evil.example", review.Critical, func(w *client.Request, _ string) { w.Set("Host", "evil.example") })...)
	t.Cases(all...)
	t.Findings = t.Findings[:min(len(t.Findings), 1)]
}

// untrustedOrigins are origins that no server should allow. A sandboxed frame has the origin null.
var untrustedOrigins = []string{"https://evil.example", "null", "http://localhost.evil.example"}

func checkCORS(t *review.T) {
	judge := func(origin string) review.Judge {
		return func(a client.Answer) (review.Severity, string) {
			if a.Exchange == nil {
				return "", ""
			}
			switch allowed := a.Exchange.Header("Access-Control-Allow-Origin"); {
			case allowed == "*" && len(t.Options.Target.Headers) == 0:
				return review.Suggestion, "every page may read the answer"
			case allowed == "*", allowed == origin:
				return review.Warning, "a page of " + origin + " may read the answer"
			}
			return "", ""
		}
	}
	var all []review.Case
	request := func(name, origin string) {
		all = append(all, t.AnyRequest(name, judge(origin), client.WithHeader("Origin", origin)))
	}
	preflight := func(name, origin string) {
		all = append(all, t.AnyRequest(name, judge(origin), func(w *client.Request) { // may a page send credentials?
			w.Verb, w.Body = "OPTIONS", nil
			w.Set("Origin", origin)
			w.Set("Access-Control-Request-Method", "POST")
			w.Set("Access-Control-Request-Headers", "authorization, content-type, mcp-protocol-version")
		}))
	}
	request("a request", untrustedOrigins[0])
	for _, origin := range untrustedOrigins[1:] {
		request("a request from "+origin, origin)
	}
	preflight("a preflight", untrustedOrigins[0])
	for _, origin := range similarOrigins(t) {
		request("a request from "+origin, origin)
		preflight("a preflight from "+origin, origin)
	}
	t.Cases(all...)
	t.Findings = t.Findings[:min(len(t.Findings), 2)]
}

// clientHosts are hosts of origins that servers often allow.
var clientHosts = []string{"claude.ai", "chatgpt.com", "example.com", "app.example.com"}

// similarOrigins returns origins that a careless comparison takes for allowed ones. It starts from
// known clients and from the server's Access-Control-Allow-Origin.
func similarOrigins(t *review.T) []string {
	hosts := slices.Clone(clientHosts)
	for _, a := range []client.Answer{t.ListedAs(t.Options.Target.Headers), t.SendAny(client.WithHeader("Origin", untrustedOrigins[0]))} {
		if a.Exchange == nil {
			continue
		}
		u, err := url.Parse(a.Exchange.Header("Access-Control-Allow-Origin"))
		if err == nil && u.Hostname() != "" && u.String() != untrustedOrigins[0] && net.ParseIP(u.Hostname()) == nil {
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

// simpleTypes are types that a page may send without a preflight. One names JSON in a parameter,
// and one is empty.
var simpleTypes = []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", "text/plain; a=application/json", ""}

func checkContentTypes(t *review.T) {
	var all []review.Case
	for _, v := range simpleTypes {
		typed := func(w *client.Request) {
			if w.Set("Content-Type", v); v == "" {
				w.Drop("Content-Type")
			}
		}
		all = append(all, review.Case{Name: "Content-Type " + v, Alter: typed, Judge: func(a client.Answer) (review.Severity, string) {
			if !client.Served(a) {
				return "", ""
			}
			w := t.Request(t.Client.Listing)
			typed(w)
			w.Set("Origin", "https://evil.example")
			if t.Send(w).Refused() {
				return review.Suggestion, "served, though not to pages"
			}
			return review.Warning, "served"
		}})
	}
	t.Cases(all...)
}
