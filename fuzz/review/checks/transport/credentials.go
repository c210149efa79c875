package transport

import (
	"encoding/json"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

const authorizationSpec = "revision 2026-07-28, basic/authorization"

// credentialChecks are the checks of servers that require credentials.
var credentialChecks = []review.Check{
	{
		ID: "A-METHOD", Name: "a method that needs no credentials", Over: "http", Era: "modern", Severity: review.Critical, Category: "security",
		Sent: "if tools/list requires credentials, all of these without them: the other lists, a call of an " +
			"unknown tool, each prompt, each resource, a completion, a notification, calls with a state; " +
			"tools/list at other spellings of the path; tools/list and initialize with the Mcp-Method " +
			"server/discover, initialize and ping; tools/list in a session of 2025-11-25",
		Want:   "answers status 401",
		Source: authorizationSpec + ", on every request; CWE-306",
		Impact: "anybody who reaches the server uses the method without authentication",
		Fix:    "check credentials before dispatching on the method or the path",
		Run:    checkOpenMethods,
	},
	{
		ID: "A-LIKE", Name: "credentials that resemble valid ones", Over: "http", Severity: review.Critical, Category: "security",
		Sent: "tools/list with variants of the credential: its first character, its first half, more characters, " +
			"another character, the other case, its first half and a wildcard, an SQL condition, another or no " +
			"scheme, an empty one, null, names such as constructor, invalid characters; the credential without its " +
			"tag and with a part of it, and a JWT as its claims alone, with the algorithm none and as JSON; the credential in " +
			"cookies, behind a made-up one, and as name or password of Basic; only the cookies that the server sets; headers with which proxies " +
			"name a user, an address or another path, alone and beside a valid credential",
		Want:   "answers status 401; takes the user only from the credential",
		Source: authorizationSpec + "; CWE-187, CWE-290",
		Impact: "a client guesses a credential piece by piece, needs none, or acts as another user",
		Fix:    "compare the whole credential, and trust no header that a client can set",
		Run:    checkSimilarCredentials,
	},
	{
		ID: "A-CONN", Name: "the credentials of an earlier request", Over: "http", Severity: review.Critical, Category: "security",
		Sent: "over one connection a request with valid credentials, and then one with made-up credentials or with " +
			"none",
		Want:   "answers status 401 to the second request",
		Source: "RFC 9110, section 3.3: requests are independent; CWE-613",
		Impact: "behind a proxy that shares connections, one user acts as another",
		Fix:    "read the credentials of every request",
		Run:    checkEarlierCredentials,
	},
}

// requiresCredentials reports whether the server requires credentials and accepts the known ones.
// It skips the check if not.
func requiresCredentials(t *review.T) bool {
	if !hasCredentials(t) {
		return false
	}
	if own := t.ListedAs(t.Options.Target.Headers); !client.Served(own) {
		t.Skip("control: the server's own credentials: %v", own)
		return false
	}
	return t.Authenticates()
}

// hasCredentials reports whether credentials are known. It skips the check if not.
func hasCredentials(t *review.T) bool {
	if len(t.Options.Target.Headers) == 0 {
		t.Skip("no credentials are known; --header gives some")
		return false
	}
	return true
}

func checkOpenMethods(t *review.T) {
	if !requiresCredentials(t) {
		return
	}
	lists := []client.Call{{Method: "prompts/list"}, {Method: "resources/list"}, {Method: "resources/templates/list"}, client.UnknownCall}
	listsOpenly := func(t *review.T) bool {
		return slices.ContainsFunc(lists, func(call client.Call) bool { return isOpen(t, call, strings.TrimSpace(call.Method+" "+call.Target)) })
	}
	for _, isServed := range []func(*review.T) bool{
		completesUnauthenticated, servesHeaderUnauthenticated, servesPathUnauthenticated, servesOlderUnauthenticated,
		readsUnauthenticated, continuesUnauthenticated, listsOpenly, notifiesUnauthenticated,
	} {
		if isServed(t) {
			return
		}
	}
}

// readsUnauthenticated reports whether the server gives a prompt or a resource without credentials.
func readsUnauthenticated(t *review.T) bool {
	return slices.ContainsFunc(t.Reads(), func(f client.Flow) bool {
		return isOpen(t, f.Call(client.Nobody), f.Method+" "+f.Target)
	})
}

// continuesUnauthenticated reports whether the server continues a flow without credentials.
func continuesUnauthenticated(t *review.T) bool {
	for _, o := range t.Oracles {
		token, _, err := t.Client.Mint(t.Context, o.Flow, client.FirstUser)
		if err != nil {
			continue
		}
		call := o.Flow.Call(client.Nobody)
		call.State = jsondoc.Quote(token)
		if isOpen(t, call, call.Method+" "+call.Target+" with a state") {
			return true
		}
	}
	return false
}

// completesUnauthenticated reports whether the server completes the first argument of a prompt
// without credentials.
func completesUnauthenticated(t *review.T) bool {
	for _, p := range t.Report.Server.Prompts {
		if len(p.Arguments) == 0 {
			continue
		}
		ref := client.PromptRef(p.Name)
		own, ok := t.Completion(client.FirstUser, ref, p.Arguments[0].Name, "")
		a, also := t.Completion(client.Nobody, ref, p.Arguments[0].Name, "")
		if ok && also && client.Served(own) && client.Served(a) {
			t.Fault("completion/complete", review.Critical, "completion/complete is answered without credentials, and tools/list is not", a)
			return true
		}
	}
	return false
}

// notifiesUnauthenticated reports whether the server accepts a notification both with and without
// credentials.
func notifiesUnauthenticated(t *review.T) bool {
	var a client.Answer
	for _, headers := range [][]rawmcp.Header{t.Options.Target.Headers, nil} {
		w := t.ListingAs(headers)
		w.Set("Mcp-Method", "notifications/cancelled")
		w.Body = []byte(unknownCancellation)
		if a = t.Send(w); a.Status != 202 {
			return false
		}
	}
	t.Trials++
	t.Fault("notifications/cancelled", review.Warning, "a notification is accepted without credentials, and tools/list is not", a)
	return true
}

// servesPathUnauthenticated sends requests without credentials to other spellings of the path,
// which some routers accept but some filters miss. It records a finding if one is served.
func servesPathUnauthenticated(t *review.T) bool {
	path, query, _ := strings.Cut(t.Client.HTTP.Path(), "?")
	if query != "" {
		query = "?" + query
	}
	for _, other := range []string{path + "/", "/" + path, "/." + path, strings.ToUpper(path), path + "/sealab", path + "%20"} {
		if other == path {
			continue
		}
		w := t.ListingAs(nil)
		w.Path = other + query
		if a := t.Tried(t.Send(w)); client.Served(a) {
			t.RefuteRequest("the path "+other, review.Critical, "answered without credentials", w, a)
			return true
		}
	}
	return false
}

// servesHeaderUnauthenticated sends requests without credentials and with the Mcp-Method of a
// handshake. It records a finding if one is served.
func servesHeaderUnauthenticated(t *review.T) bool {
	for _, named := range []string{"server/discover", "initialize", "ping"} {
		for name, w := range jsondoc.InOrder(map[string]*client.Request{"tools/list": t.ListingAs(nil), "initialize": t.InitializeRequest(client.Older)}) {
			for _, h := range t.Options.Target.Headers {
				w.Drop(h.Name)
			}
			if name == "initialize" && !t.Send(w).Refused() {
				continue // initialize needs no credentials
			}
			w.Set("Mcp-Method", named)
			if a := t.Tried(t.Send(w)); client.Served(a) {
				t.RefuteRequest(name+" under Mcp-Method "+named, review.Critical, "answered without credentials", w, a)
				return true
			}
		}
	}
	return false
}

// servesOlderUnauthenticated lists the tools in a session of an older revision without credentials.
// It records a finding if the list has a tool that requires credentials in the newest revision.
// Guests may have other tools.
func servesOlderUnauthenticated(t *review.T) bool {
	a := t.Tried(t.Client.Initialize(t.Context, client.Older, client.Nobody))
	if a.Kind != client.Completed {
		return false
	}
	a = t.Client.RawCall(t.Context, t.Client.SessionHeaders(t.Client.FinishHandshake(t.Context, a, client.Nobody), client.Nobody), []byte(t.Client.ListBody()))
	var list struct{ Tools []client.Offer }
	if !client.Served(a) || json.Unmarshal(a.Result, &list) != nil || !slices.ContainsFunc(list.Tools, func(o client.Offer) bool {
		return slices.ContainsFunc(t.Report.Server.Tools, func(own client.Offer) bool { return own.Name == o.Name })
	}) {
		return false
	}
	t.Refute(review.Finding{Case: "a session", Severity: review.Critical,
		Issue:    "tools/list is answered without credentials in a session of revision " + client.Older + ", and in revision " + client.Modern + " it is not",
		Evidence: review.ExchangeText(a), Want: "status 401", Got: "served", Revision: client.Older})
	return true
}

// isOpen makes a call with and without credentials. It records a finding if the second is answered.
func isOpen(t *review.T, call client.Call, name string) bool {
	own, a := t.Call(call.By(client.FirstUser)), t.Call(call.By(client.Nobody))
	if !own.Conclusive() || !a.Conclusive() {
		return false
	}
	t.Trials++
	// If the refusal without credentials is about the name of the tool, the credentials were not
	// checked.
	open := client.Served(a) || call.Target == client.NoSuchTool && a.Status != 401 && a.Status != 403 && a.Refusal() == own.Refusal()
	if !open || !t.Selected(name) {
		return false
	}
	severity := review.Critical
	if strings.HasSuffix(call.Method, "/list") || !client.Served(a) {
		severity = review.Warning
	}
	t.Fault(name, severity, name+" is answered without credentials, and tools/list is not", a)
	return true
}

// cookieNames are names of cookies from which careless servers take credentials.
var cookieNames = []string{"Authorization", "authorization", "access_token", "token", "auth", "auth_token", "session", "jwt", "api_key"}

// proxyHeaders name a user. Proxies add them after a login.
var proxyHeaders = []string{"X-Forwarded-User", "X-Remote-User", "Remote-User", "X-Authenticated-User", "X-User", "X-User-Id"}

// addressHeaders name the address of a client. Proxies add them.
var addressHeaders = []string{"X-Forwarded-For", "X-Real-IP", "X-Client-IP", "True-Client-IP", "CF-Connecting-IP", "X-Originating-IP"}

// presentSetCookies sends a request with only the cookies that the server sets.
func presentSetCookies(t *review.T) {
	own := t.ListedAs(t.Options.Target.Headers)
	cookies := own.SetCookies()
	if cookies == "" {
		return
	}
	a := t.Tried(t.ListedAs([]rawmcp.Header{{Name: "Cookie", Value: cookies}}))
	if client.Served(a) {
		t.Fault("set cookies", review.Warning, "a cookie that the server sets is accepted in place of a credential", a)
	}
}

// checkEarlierCredentials sends bad credentials on a connection that has carried good ones.
func checkEarlierCredentials(t *review.T) {
	if !hasCredentials(t) {
		return
	}
	for _, later := range []struct {
		name    string
		headers []rawmcp.Header
	}{{"made-up credentials", review.MadeUpHeaders}, {"no credentials", nil}} {
		if alone := t.ListedAs(later.headers); !alone.Refused() {
			t.Skip("%s: the server answers them on a connection of their own: %v", later.name, alone)
			continue
		}
		before, a, ok := onOneConnection(t, t.Options.Target.Headers, later.headers)
		switch {
		case !ok:
			t.Skip("the server closes the connection after a request")
			return
		case !client.Served(before):
			t.Skip("control: the server's own credentials: %v", before)
			return
		}
		t.Trials++
		if client.Served(a) {
			t.Fault(later.name, review.Critical, later.name+" are accepted on a connection that has carried valid ones", a)
			return
		}
	}
}

// onOneConnection sends an honest request twice over one connection, with different credentials. It
// reports whether the connection stayed open.
func onOneConnection(t *review.T, one, other []rawmcp.Header) (before, after client.Answer, ok bool) {
	c := t.Client
	conn, err := c.HTTP.Dial(t.Context)
	if err != nil {
		return before, after, false
	}
	defer conn.Close()
	send := func(headers []rawmcp.Header) client.Answer {
		w := t.ListingAs(headers)
		w.Drop("Connection")
		e := c.HTTP.DoOver(t.Context, conn, w.Raw())
		c.Keep(e)
		return client.ReadAnswer(e, w.ID)
	}
	if before = send(one); before.Exchange.Err != nil || before.Exchange.Stream {
		return before, after, false
	}
	after = send(other)
	return before, after, after.Exchange.Err == nil
}
