package transport

import (
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
	"sealab/internal/rawmcp"
)

const lifecycle = "revision 2025-11-25, basic/lifecycle"

const oldTransport = "revision 2025-11-25, basic/transports"

// sessions are the checks of the revisions 2025-11-25, 2025-06-18 and 2025-03-26 over HTTP. They
// are not tested on a server without these revisions.
var sessions = []review.Check{
	{
		ID: "S-NEG", Name: "the negotiation of a revision", Over: "http", Era: "legacy", Severity: review.Warning, Category: "transport",
		Sent:   "initialize with the revisions from 2024-11-05 to 2025-11-25, 1999-01-01, 2025-07-01 and 2099-01-01",
		Want:   "the same revision, or another that the server supports",
		Source: lifecycle,
		Impact: "client and server speak different protocols",
		Fix:    "answer with a revision of the list of those supported",
		Run:    negotiation,
	},
	{
		ID: "S-202", Name: "the answer to a notification or a response", Over: "http", Era: "legacy", Severity: review.Warning, Category: "transport",
		Sent:   "the notifications of clients, and a response that nobody asked for",
		Want:   "status 202 without a body, or an error status",
		Source: oldTransport,
		Impact: "clients wait for what does not come",
		Fix:    "answer 202 without a body",
		Run:    oldNotification,
	},
	{
		ID: "S-ID", Name: "the ids of sessions", Over: "http", Era: "legacy", Severity: review.Warning, Category: "security",
		Sent:   "eight times initialize",
		Want:   "different ids of visible ASCII, at least 16 characters, that no counter, time or user gives",
		Source: oldTransport,
		Impact: "ids can be guessed",
		Fix:    "draw 16 random bytes for each id",
		Run:    sessionIDs,
	},
	{
		ID: "S-MISSING", Name: "no session, and a made-up one", Over: "http", Era: "legacy", Severity: review.Warning, Category: "security",
		Sent: "tools/list without a session, with ids that the server did not give, " +
			"with parts and other spellings of one that it gave, with two, and with one in the URL or in a cookie; " +
			"GET with a made-up one",
		Want:   "400 and 404, and no id of a session",
		Source: oldTransport,
		Impact: "any id is a session",
		Fix:    "look the id up and answer 404",
		Run:    noSession,
	},
	{
		ID: "S-END", Name: "a session that was ended", Over: "http", Era: "legacy", Severity: review.Warning, Category: "security",
		Sent:   "DELETE, then tools/list, a call of an unknown tool and GET",
		Want:   "405, or 404 afterwards",
		Source: oldTransport,
		Impact: "a session cannot be ended",
		Fix:    "forget the id on DELETE",
		Run:    ended,
	},
	{
		ID: "S-VER", Name: "an unknown revision in a session", Over: "http", Era: "legacy", Severity: review.Critical, Category: "transport",
		Sent:   "tools/list with MCP-Protocol-Version 1999-01-01",
		Want:   "status 400",
		Source: oldTransport,
		Impact: "client and server speak different protocols",
		Fix:    "compare the header with those supported",
		Run:    sessionVersion,
	},
	{
		ID: "S-BATCH", Name: "several requests in one body", Over: "http", Era: "legacy", Severity: review.Warning, Category: "transport",
		Sent:   "an array of two requests in a session of 2025-06-18",
		Want:   "refused",
		Source: "revision 2025-06-18, key changes",
		Impact: "headers describe one request and others come with it",
		Fix:    "refuse arrays from 2025-06-18 on",
		Run:    sessionBatch,
	},
	{
		ID: "S-GET", Name: "a stream without a session", Over: "http", Era: "legacy", Severity: review.Suggestion, Category: "transport",
		Sent:   "GET that accepts JSON alone, and GET without a session",
		Want:   "405, 406 or 400",
		Source: oldTransport,
		Impact: "a stream is opened that belongs to nobody",
		Fix:    "require Accept and the session",
		Run:    sessionGet,
	},
	{
		ID: "S-HIJACK", Name: "the session of another user", Over: "http", Era: "legacy", Severity: review.Critical, Category: "security",
		Sent: "tools/list, a call of an unknown tool, GET and DELETE in a session of the first user with the credentials of " +
			"the second, and without any",
		Want:   "401, 403 or 404",
		Source: oldTransport + ", security best practices",
		Impact: "whoever learns an id acts as its owner",
		Fix:    "bind the session to the user and compare",
		Run:    hijacked,
	},
	{
		ID: "S-ORIGIN", Name: "a foreign Origin in older revisions", Over: "http", Era: "legacy", Severity: review.Warning, Category: "security",
		Sent:   "initialize with Origin https://evil.example; in a session tools/list with it and with null, and GET",
		Want:   "status 403",
		Source: oldTransport + ", MUST validate Origin",
		Impact: "a page of any site opens a session",
		Fix:    "refuse requests whose Origin is not allowed; the SDK has an option for it",
		Run:    sessionOrigin,
	},
	{
		ID: "S-REINIT", Name: "initialize in a session", Over: "http", Era: "legacy", Severity: review.Suggestion, Category: "transport",
		Sent:   "initialize with the id of a session",
		Want:   "an error, or an answer",
		Source: lifecycle,
		Impact: "the session breaks",
		Fix:    "answer with an error",
		Run:    initializedAgain,
	},
	{
		ID: "RS-DOWN", Name: "a state in an older revision", Over: "http", Era: "legacy", Severity: review.Critical, Category: "security",
		Sent:   "in a session of 2025-11-25, a call of a tool that asks first, with a readable state of its own; with --effects its answers as well",
		Want:   "refused or ignored, never taken unverified",
		Source: review.SourceMRTR,
		Impact: "the protection is passed by speaking an older revision",
		Fix:    "verify the state in every revision, or drop it in those that do not know it",
		Run:    downgraded,
	},
}

// open opens a session for a user. It skips the check on failure.
func open(t *review.T, version string, as client.User) (client.Session, bool) {
	a := t.Client.Initialize(t.Context, version, as)
	if a.Kind != client.Completed {
		t.Skip("initialize %s: %v", version, a)
		return client.Session{}, false
	}
	t.Trials++
	return t.Client.FinishHandshake(t.Context, a, as), true
}

// inSession sends a body in a session.
func inSession(t *review.T, s client.Session, as client.User, body string) client.Answer {
	return t.Client.RawCall(t.Context, t.Client.SessionHeaders(s, as), []byte(body))
}

// oldList returns a tools/list request with the next ID.
func oldList(t *review.T) string {
	t.Client.ID++
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{}}`, t.Client.ID)
}

// opened returns a session that answers an honest request.
func opened(t *review.T) (client.Session, bool) {
	s, ok := open(t, client.Older, client.FirstUser)
	if !ok {
		return s, false
	}
	if a := inSession(t, s, client.FirstUser, oldList(t)); a.Kind != client.Completed {
		t.Skip("control: tools/list in a session: %v", a)
		return s, false
	}
	return s, true
}

func negotiation(t *review.T) {
	known := map[string]bool{}
	for _, v := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		if a := t.Client.Initialize(t.Context, v, client.FirstUser); a.Kind == client.Completed {
			known[client.VersionOf(a)] = true
		}
		t.Trials++
	}
	if len(known) == 0 {
		t.Skip("initialize is not answered: the server speaks no older revision")
		return
	}
	for _, v := range []string{"1999-01-01", "2025-07-01", "2099-01-01"} {
		a := t.Client.Initialize(t.Context, v, client.FirstUser)
		if got := client.VersionOf(a); a.Kind == client.Completed && !known[got] && got != client.Modern {
			t.Refute(review.Finding{Case: v, Severity: review.Warning,
				Issue:    fmt.Sprintf("initialize %s is answered by revision %s", v, client.Short(got, 30)),
				Evidence: review.SentText(a.Exchange) + " -> " + client.Short(string(a.Result), 200), Want: "a supported revision",
				Got: got, Revision: client.Older})
		}
	}
}

// unanswered are messages that need no answer.
var unanswered = map[string]string{
	"a notification": client.InitializedNotice, "a response": `{"jsonrpc":"2.0","id":99999,"result":{}}`,
	"notifications/roots/list_changed": `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
	"notifications/progress":           `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"sealab-none","progress":1}}`,
	"notifications/cancelled":          `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sealab-none"}}`,
}

func oldNotification(t *review.T) {
	s, ok := opened(t)
	if !ok {
		return
	}
	for name, body := range unanswered {
		a := t.Tried(inSession(t, s, client.FirstUser, body))
		if a.Exchange != nil && a.Status/100 == 2 && (a.Status != 202 || len(strings.TrimSpace(string(a.Exchange.Body))) > 0 && string(a.Exchange.Body) != "null") {
			t.Refute(review.Finding{Case: name, Severity: review.Warning,
				Issue:    fmt.Sprintf("%s is answered with status %d and %d bytes", name, a.Status, len(a.Exchange.Body)),
				Evidence: review.SentText(a.Exchange) + " -> " + client.Short(string(a.Exchange.Body), 100), Want: "202 without a body",
				Got: fmt.Sprint(a.Status), Revision: client.Older})
		}
	}
}

// keeping returns a session with an ID. It skips the check if there is none.
func keeping(t *review.T) (client.Session, bool) {
	s, ok := opened(t)
	if ok && s.ID == "" {
		t.Skip("the server keeps no sessions")
		return s, false
	}
	return s, ok
}

func sessionVersion(t *review.T) {
	s, ok := opened(t)
	if !ok {
		return
	}
	s.Version = "1999-01-01"
	if a := t.Tried(inSession(t, s, client.FirstUser, oldList(t))); a.Kind == client.Completed {
		t.Refute(review.Finding{Case: "1999-01-01", Severity: review.Critical, Issue: "a request of revision 1999-01-01 is served",
			Evidence: review.ExchangeText(a), Want: "400", Got: "served", Revision: client.Older})
	}
}

func sessionBatch(t *review.T) {
	s, ok := open(t, "2025-06-18", client.FirstUser)
	if !ok {
		return
	}
	if s.Version != "2025-06-18" {
		t.Skip("the server answers revision %s", s.Version)
		return
	}
	one := oldList(t)
	a := t.Tried(inSession(t, s, client.FirstUser, "["+one+","+oldList(t)+"]"))
	if a.Status == 200 && a.Exchange != nil && strings.Contains(string(a.Exchange.Body), `"tools"`) {
		t.Refute(review.Finding{Case: "two requests", Severity: review.Warning, Issue: "an array of requests is served",
			Evidence: review.SentText(a.Exchange) + " -> " + client.Short(string(a.Exchange.Body), 150), Want: "refused", Got: "served", Revision: "2025-06-18"})
	}
}

func sessionGet(t *review.T) {
	s, ok := opened(t)
	if !ok {
		return
	}
	for _, c := range []struct {
		name, accept string
		id           string
	}{{"Accept application/json", "application/json", s.ID}, {"no session", "text/event-stream", ""}} {
		if c.name == "no session" && s.ID == "" {
			continue
		}
		other := s
		other.ID = c.id
		w := &client.Request{Headers: t.Client.SessionHeaders(other, client.FirstUser)}
		w.Set("Accept", c.accept)
		w.Drop("Content-Type")
		e := t.Client.Raw(t.Context, rawmcp.Request{Verb: "GET", Path: t.Client.HTTP.Path(), Headers: w.Headers, Head: true})
		t.Trials++
		if e.Status == 200 {
			t.Refute(review.Finding{Case: c.name, Severity: review.Suggestion, Issue: "GET with " + c.name + " opens a stream",
				Evidence: review.SentText(e) + " -> status 200", Want: "405, 406 or 400", Got: "200", Revision: client.Older})
		}
	}
}

func initializedAgain(t *review.T) {
	s, ok := keeping(t)
	if !ok {
		return
	}
	w := &client.Request{Headers: t.Client.SessionHeaders(s, client.FirstUser), ID: t.Client.ID + 1}
	t.Client.ID++
	t.Initializing(w, client.Older)
	a := t.Tried(t.Client.RawCall(t.Context, append(w.Headers, rawmcp.Header{Name: "MCP-Protocol-Version", Value: s.Version}, rawmcp.Header{Name: "Mcp-Session-Id", Value: s.ID}), w.Body))
	if a.Kind == client.Broken {
		t.Refute(review.Finding{Case: "again", Severity: review.Suggestion, Issue: "initialize in a session gets no answer",
			Evidence: a.String(), Want: "an error or an answer", Got: "broken", Revision: client.Older})
	}
}

// downgraded presents a changed state in an older revision. The answer contains the changed value
// if the server uses the state.
func downgraded(t *review.T) {
	f, ok := t.AskingTool()
	if !ok {
		return
	}
	s, ok := opened(t)
	if !ok {
		return
	}
	token, reason := t.Mint()
	if t.SkipFor(reason) {
		return
	}
	const probe = "sealabdowngradeprobe"
	answers := ""
	if t.Options.Effects && f.Last != nil {
		answers = `,"inputResponses":` + string(f.Last)
	}
	for _, v := range tokens.Views(token) {
		changed := jsondoc.WithTexts(v.Object, probe)
		for _, name := range jsondoc.SortedKeys(changed) {
			if strings.Contains(strings.ToLower(name), "step") {
				continue
			}
			t.Client.ID++
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s,"arguments":%s,"requestState":%s%s}}`, t.Client.ID,
				jsondoc.Quote(f.Target), f.Arguments, jsondoc.Quote(v.Write(token, changed[name])), answers)
			a := t.Tried(inSession(t, s, client.FirstUser, body))
			if (a.Kind == client.Completed || a.Kind == client.Asked || a.Pushes()) && a.Contains(probe) {
				t.Refute(review.Finding{Case: name, Severity: review.Critical, Issue: "a changed state is taken unverified in revision " + client.Older,
					Evidence: client.Short(body, 300) + " -> " + a.String(), Want: "ignored", Got: "taken", Revision: client.Older})
				return
			}
		}
	}
	if t.Trials == 0 {
		t.Skip("the state cannot be read, so that no changed value can be looked for")
	}
}
