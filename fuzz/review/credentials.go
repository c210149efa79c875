package review

import (
	"strings"

	"sealab/internal/rawmcp"
)

const authorization = "revision 2026-07-28, basic/authorization"

// credentials are the checks of servers that want credentials.
var credentials = []Check{
	{ID: "A-METHOD", Name: "a method without credentials", Over: "http", Era: "modern", Severity: Critical, Category: "security",
		Sent: "each list, a call of an unknown tool, each prompt, each resource, a completion, and calls with a state, a notification, and tools/list at other spellings of the path, without credentials, if tools/list wants some; tools/list and initialize with the Mcp-Method of a handshake", Want: "status 401", Source: authorization + ", on every request; CWE-306",
		Impact: "whoever reaches the server uses one of its methods without a name", Fix: "check credentials before the method is looked at", Run: openMethods},
	{ID: "A-LIKE", Name: "credentials that resemble good ones", Over: "http", Severity: Critical, Category: "security",
		Sent: "a request with the beginning of a credential, more characters, another character, a pattern in the place of its end, a condition of SQL, the other case, another scheme, an empty one, null, ones that cannot be decoded, with it in a cookie, behind a made-up one, with the cookies that the server sets, and with headers of proxies that name a user or an address, also beside a good credential", Want: "status 401, and the user of the credential", Source: authorization + "; CWE-187, CWE-290",
		Impact: "a credential is guessed piece by piece, or is not needed", Fix: "compare whole credentials, and take the user's name from no header that a client may send", Run: likeCredentials},
	{ID: "A-CONN", Name: "the credentials of an earlier request", Over: "http", Severity: Critical, Category: "security",
		Sent: "on one connection a request with good credentials, and then one with made-up ones and one without", Want: "status 401", Source: "RFC 9110, section 3.3: requests are independent; CWE-613",
		Impact: "behind a proxy that shares connections one user acts as another", Fix: "read the credentials of each request", Run: keptCredentials},
}

// wanting reports whether the server wants credentials and takes those that are known;
// otherwise it skips the check.
func (t *T) wanting() bool {
	if !t.knows() {
		return false
	}
	headers := t.r.opts.Target.Headers
	if own := t.listedAs(headers); !served(own) {
		t.skip("control: the server's own credentials: %v", own)
		return false
	}
	return t.authenticates()
}

// knows reports whether credentials are known; otherwise it skips the check.
func (t *T) knows() bool {
	if len(t.r.opts.Target.Headers) == 0 {
		t.skip("no credentials are known; --header gives some")
		return false
	}
	return true
}

func openMethods(t *T) {
	if !t.wanting() {
		return
	}
	calls := []Call{{Method: "prompts/list"}, {Method: "resources/list"}, {Method: "resources/templates/list"}, unknownCall}
	for _, f := range t.r.reads() {
		calls = append(calls, f.call(nobody))
	}
	if t.completesOpenly() {
		return
	}
	if t.openByHeader() || t.notifiesOpenly() || t.openByPath() {
		return
	}
	for _, call := range calls {
		if t.isOpen(call, strings.TrimSpace(call.Method+" "+call.Target)) {
			return
		}
	}
	for _, o := range t.r.oracles {
		token, _, err := t.r.client.mint(t.ctx, o.flow, first)
		if err != nil {
			continue
		}
		call := o.flow.call(nobody)
		call.State = quote(token)
		if t.isOpen(call, call.Method+" "+call.Target+" with a state") {
			return
		}
	}
}

// completesOpenly reports whether the first argument of a prompt is completed without
// credentials.
func (t *T) completesOpenly() bool {
	for _, p := range t.r.Report.Server.Prompts {
		if len(p.Arguments) == 0 {
			continue
		}
		ref := map[string]string{"type": "ref/prompt", "name": p.Name}
		own, ok := t.completion(first, ref, p.Arguments[0].Name, "")
		a, also := t.completion(nobody, ref, p.Arguments[0].Name, "")
		if ok && also && served(own) && served(a) {
			t.fault("completion/complete", Critical, "completion/complete is answered without credentials, and tools/list is not", a)
			return true
		}
	}
	return false
}

// notifiesOpenly reports whether a notification is accepted with credentials and without.
func (t *T) notifiesOpenly() bool {
	var a Answer
	for _, headers := range [][]rawmcp.Header{t.r.opts.Target.Headers, nil} {
		w := t.listingAs(headers)
		w.set("Mcp-Method", "notifications/cancelled")
		w.body = []byte(cancelNobody)
		if a = t.send(w); a.Status != 202 {
			return false
		}
	}
	t.seen(variant{name: "notifications/cancelled"}, a)
	t.fault("notifications/cancelled", Warning, "a notification is accepted without credentials, and tools/list is not", a)
	return true
}

// openByPath asks without credentials at other spellings of the path, which some routers
// take for the endpoint and some filters do not. It refutes if one is served.
func (t *T) openByPath() bool {
	path, query, _ := strings.Cut(t.r.client.http.Path(), "?")
	if query != "" {
		query = "?" + query
	}
	for _, other := range []string{path + "/", "/" + path, "/." + path, strings.ToUpper(path), path + "/sealab", path + "%20"} {
		if other == path {
			continue
		}
		w := t.listingAs(nil)
		w.path = other + query
		a := t.send(w)
		if t.seen(variant{name: other}, a); served(a) {
			t.refuteWire("the path "+other, Critical, "answered without credentials", w, a)
			return true
		}
	}
	return false
}

// openByHeader sends requests without credentials whose Mcp-Method is that of a handshake. It
// refutes if one is served.
func (t *T) openByHeader() bool {
	for _, named := range []string{"server/discover", "initialize", "ping"} {
		for name, w := range map[string]*wire{"tools/list": t.listingAs(nil), "initialize": t.initialize(older)} {
			for _, h := range t.r.opts.Target.Headers {
				w.drop(h.Name)
			}
			if name == "initialize" && !t.send(w).refused() {
				continue // open to everybody
			}
			w.set("Mcp-Method", named)
			a := t.send(w)
			if t.seen(variant{name: named}, a); served(a) {
				t.refuteWire(name+" under Mcp-Method "+named, Critical, "answered without credentials", w, a)
				return true
			}
		}
	}
	return false
}

// isOpen makes a call with credentials and without, and refutes if the second one is answered.
func (t *T) isOpen(call Call, name string) bool {
	call.as = first
	own := t.r.client.call(t.ctx, call)
	call.as = nobody
	a := t.r.client.call(t.ctx, call)
	if !own.conclusive() || !a.conclusive() {
		return false
	}
	t.seen(variant{name: name}, a)
	// An unknown tool is refused by its name only if the credentials were not looked at.
	open := served(a) || call.Target == noSuchTool && a.Status != 401 && a.Status != 403 && a.refusal() == own.refusal()
	if !open || t.only != "" && t.only != name {
		return false
	}
	severity := Critical
	if strings.HasSuffix(call.Method, "/list") || !served(a) {
		severity = Warning
	}
	t.fault(name, severity, name+" is answered without credentials, and tools/list is not", a)
	return true
}

// cookieNames are the names of cookies that careless servers take credentials from.
var cookieNames = []string{"Authorization", "authorization", "access_token", "token", "auth", "auth_token", "session", "jwt", "api_key"}

// proxyHeaders name a user; proxies add them behind a login.
var proxyHeaders = []string{"X-Forwarded-User", "X-Remote-User", "Remote-User", "X-Authenticated-User", "X-User", "X-User-Id"}

// addressHeaders name the address of a client; proxies add them.
var addressHeaders = []string{"X-Forwarded-For", "X-Real-IP", "X-Client-IP", "True-Client-IP", "CF-Connecting-IP", "X-Originating-IP"}

// cookiesOf are the cookies that an answer sets, as a request has them.
func cookiesOf(a Answer) string {
	var pairs []string
	if a.Exchange != nil {
		for _, cookie := range a.Exchange.Headers["Set-Cookie"] {
			pair, _, _ := strings.Cut(cookie, ";")
			pairs = append(pairs, pair)
		}
	}
	return strings.Join(pairs, "; ")
}

// setCookies asks with nothing else than the cookies that the server sets.
func (t *T) setCookies() {
	own := t.listedAs(t.r.opts.Target.Headers)
	cookies := cookiesOf(own)
	if cookies == "" {
		return
	}
	a := t.listedAs([]rawmcp.Header{{Name: "Cookie", Value: cookies}})
	if t.seen(variant{name: "set cookies"}, a); served(a) {
		t.fault("set cookies", Warning, "a cookie that the server sets is taken in the place of a credential", a)
	}
}

// keptCredentials asks on a connection that good credentials were sent on.
func keptCredentials(t *T) {
	if !t.knows() {
		return
	}
	for _, later := range []struct {
		name    string
		headers []rawmcp.Header
	}{{"made-up credentials", madeUpHeaders}, {"no credentials", nil}} {
		if alone := t.listedAs(later.headers); !alone.refused() {
			t.skip("%s: the server answers them on a connection of their own: %v", later.name, alone)
			continue
		}
		before, a, ok := t.onOneConnection(t.r.opts.Target.Headers, later.headers)
		switch {
		case !ok:
			t.skip("the server closes the connection after a request")
			return
		case !served(before):
			t.skip("control: the server's own credentials: %v", before)
			return
		}
		t.seen(variant{name: later.name}, a)
		if served(a) {
			t.fault(later.name, Critical, later.name+" are taken on a connection that good ones were sent on", a)
			return
		}
	}
}

// onOneConnection sends an honest request twice over one connection, with some
// credentials and with others. It reports whether the connection stayed open.
func (t *T) onOneConnection(one, other []rawmcp.Header) (before, after Answer, ok bool) {
	c := t.r.client
	conn, err := c.http.Dial(t.ctx)
	if err != nil {
		return before, after, false
	}
	defer conn.Close()
	send := func(headers []rawmcp.Header) Answer {
		w := t.listingAs(headers)
		w.drop("Connection")
		e := c.http.DoOver(t.ctx, conn, rawmcp.Request{Verb: w.verb, Path: w.path, Headers: w.headers, Body: w.body, Done: w.ends})
		c.kept(e)
		return read(e, w.id)
	}
	if before = send(one); before.Exchange.Err != nil || before.Exchange.Stream {
		return before, after, false
	}
	after = send(other)
	return before, after, after.Exchange.Err == nil
}
