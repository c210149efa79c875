// Package sessions has the checks of sessions of the revisions 2025-11-25, 2025-06-18 and
// 2025-03-26.
package sessions

import (
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
	"sealab/internal/rawmcp"
)

const lifecycleSpec = "revision 2025-11-25, basic/lifecycle"

const oldTransportSpec = "revision 2025-11-25, basic/transports"

// Checks returns the checks of sessions, in the order in which they run.
func Checks() []review.Check { return slices.Concat(sessionChecks, sessionStreamChecks, taskChecks) }

// sessionChecks are the checks of the revisions 2025-11-25, 2025-06-18 and 2025-03-26 over HTTP.
// They are not tested on a server without these revisions.
var sessionChecks = []review.Check{
	{
		ID: "S-NEG", Name: "the negotiation of the protocol revision", Over: "http", Era: "legacy", Severity: review.Warning, Category: "transport",
		Sent: "initialize with the revisions 2024-11-05 to 2025-11-25, and with the unknown revisions 1999-01-01, " +
			"2025-07-01 and 2099-01-01",
		Want:   "answers with the same revision, or with another one that it supports",
		Source: lifecycleSpec,
		Impact: "client and server use different protocol revisions",
		Fix:    "answer an unknown revision with a supported one",
		Run:    checkNegotiation,
	},
	{
		ID: "S-202", Name: "the answer to a notification or a response", Over: "http", Era: "legacy", Severity: review.Warning, Category: "transport",
		Sent:   "in a session: the notifications of clients, and an unsolicited response",
		Want:   "answers status 202 without a body, or an error status",
		Source: oldTransportSpec,
		Impact: "the client waits for an answer that does not come, or receives one that it cannot match",
		Fix:    "answer status 202 without a body",
		Run:    checkSessionNotification,
	},
	{
		ID: "S-ID", Name: "session ids that can be guessed", Over: "http", Era: "legacy", Severity: review.Warning, Category: "security",
		Sent: "initialize eight times",
		Want: "issues different ids of at least 16 visible ASCII characters that do not follow from a counter or " +
			"the time",
		Source: oldTransportSpec,
		Impact: "an attacker guesses the sessions of other users",
		Fix:    "draw 16 random bytes for each id",
		Run:    checkSessionIDs,
	},
	{
		ID: "S-MISSING", Name: "a session id that the server did not issue", Over: "http", Era: "legacy", Severity: review.Warning, Category: "security",
		Sent: "tools/list without a session id; with made-up ids and names such as constructor; with parts, " +
			"extensions and other spellings of an issued id; with two ids; with the id only in the URL, in a cookie, or in the cookies that the " +
			"server sets; GET with a made-up id",
		Want:   "answers status 400 or 404, and reveals no session id",
		Source: oldTransportSpec,
		Impact: "a client uses a session without its id; or ids remain in logs and browser histories",
		Fix:    "look up the exact id of the Mcp-Session-Id header, and answer 404 if it is unknown",
		Run:    checkUnknownSessions,
	},
	{
		ID: "S-END", Name: "a session that continues after DELETE", Over: "http", Era: "legacy", Severity: review.Warning, Category: "security",
		Sent:   "DELETE of a session, then in it tools/list, a call of an unknown tool and GET; then a new session",
		Want:   "answers DELETE with status 405, or answers 404 afterwards; does not issue the id again",
		Source: oldTransportSpec,
		Impact: "a user cannot end a session",
		Fix:    "delete the session on DELETE, and do not reuse its id",
		Run:    checkEndedSession,
	},
	{
		ID: "S-VER", Name: "an unknown revision in a session", Over: "http", Era: "legacy", Severity: review.Critical, Category: "transport",
		Sent:   "in a session, tools/list with MCP-Protocol-Version 1999-01-01",
		Want:   "answers status 400",
		Source: oldTransportSpec,
		Impact: "client and server use different protocol revisions",
		Fix:    "compare the header with the supported revisions, and answer 400",
		Run:    checkSessionVersion,
	},
	{
		ID: "S-BATCH", Name: "several requests in one body", Over: "http", Era: "legacy", Severity: review.Warning, Category: "transport",
		Sent:   "an array of two requests in a session of 2025-06-18",
		Want:   "refuses the array",
		Source: "revision 2025-06-18, key changes",
		Impact: "the headers that a gateway checks describe only one of the requests",
		Fix:    "refuse arrays from revision 2025-06-18 on",
		Run:    checkSessionBatch,
	},
	{
		ID: "S-GET", Name: "a stream without a session or without Accept", Over: "http", Era: "legacy", Severity: review.Suggestion, Category: "transport",
		Sent:   "in a session, GET that accepts only application/json; GET without a session id",
		Want:   "answers status 405, 406 or 400",
		Source: oldTransportSpec,
		Impact: "the server keeps a stream open that no client reads",
		Fix:    "require Accept: text/event-stream and a session id",
		Run:    checkSessionGet,
	},
	{
		ID: "S-HIJACK", Name: "the session of another user", Over: "http", Era: "legacy", Severity: review.Critical, Category: "security",
		Sent: "in a session of the first user: tools/list, a call of an unknown tool, ping, GET and DELETE with " +
			"the credentials of the second user, and without credentials",
		Want:   "answers status 401, 403 or 404",
		Source: oldTransportSpec + ", security best practices",
		Impact: "anybody who learns a session id acts as its owner",
		Fix:    "bind the session to its user, and compare the user on every request",
		Run:    checkOtherUsersSession,
	},
	{
		ID: "S-ORIGIN", Name: "a foreign Origin or Host in an older revision", Over: "http", Era: "legacy", Severity: review.Critical, Category: "security",
		Sent: "initialize with Origin https://evil.example; in a session, tools/list with this Origin and with " +
			"null, and GET with this Origin; on this machine the same with evil.example in Host, and in both",
		Want:   "answers status 403",
		Source: oldTransportSpec + ", MUST validate Origin",
		Impact: "a page of any site makes its visitor's browser open or use a session",
		Fix:    "refuse requests whose Origin is not on a list of allowed origins; the SDKs have an option for it",
		Run:    checkSessionOrigin,
	},
	{
		ID: "S-REINIT", Name: "a second initialize in a session", Over: "http", Era: "legacy", Severity: review.Suggestion, Category: "transport",
		Sent:   "initialize with the id of a session",
		Want:   "answers with a result or an error",
		Source: lifecycleSpec,
		Impact: "the client waits, and its session breaks",
		Fix:    "answer an error",
		Run:    checkSecondInitialize,
	},
	{
		ID: "RS-DOWN", Name: "a state in a session of an older revision", Over: "http", Era: "legacy", Severity: review.Critical, Category: "security",
		Sent: "in a session of 2025-11-25 a call of a tool that asks, with requestState set to a readable token " +
			"with changed values; with --effects also inputResponses, and the call alone, in sessions with and " +
			"without the capability elicitation",
		Want: "ignores or refuses the state; never uses it unverified; asks for the same confirmation, or refuses " +
			"the call",
		Source: review.SourceMRTR,
		Impact: "a client avoids the verification of the state, or the question, by using an older revision",
		Fix: "verify the state in every revision, or ignore it in revisions that do not define it; ask with " +
			"elicitation/create there, or refuse the call",
		Run: checkDowngrade,
	},
}

// openSession opens a session for a user. It skips the check on failure.
func openSession(t *review.T, version string, as client.User) (client.Session, bool) {
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

// openLiveSession returns a session that answers an honest request.
func openLiveSession(t *review.T) (client.Session, bool) {
	s, ok := openSession(t, client.Older, client.FirstUser)
	if !ok {
		return s, false
	}
	if a := inSession(t, s, client.FirstUser, t.Client.ListBody()); a.Kind != client.Completed {
		t.Skip("control: tools/list in a session: %v", a)
		return s, false
	}
	return s, true
}

func checkNegotiation(t *review.T) {
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

// unansweredMessages are messages that need no answer.
var unansweredMessages = map[string]string{
	"a notification": client.InitializedNotice, "a response": `{"jsonrpc":"2.0","id":99999,"result":{}}`,
	"notifications/roots/list_changed": `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
	"notifications/progress":           `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"sealab-none","progress":1}}`,
	"notifications/cancelled":          `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sealab-none"}}`,
}

func checkSessionNotification(t *review.T) {
	s, ok := openLiveSession(t)
	if !ok {
		return
	}
	for name, body := range unansweredMessages {
		a := t.Tried(inSession(t, s, client.FirstUser, body))
		if a.Exchange != nil && a.Status/100 == 2 && (a.Status != 202 || len(strings.TrimSpace(string(a.Exchange.Body))) > 0 && string(a.Exchange.Body) != "null") {
			t.Refute(review.Finding{Case: name, Severity: review.Warning,
				Issue:    fmt.Sprintf("%s is answered with status %d and %d bytes", name, a.Status, len(a.Exchange.Body)),
				Evidence: review.SentText(a.Exchange) + " -> " + client.Short(string(a.Exchange.Body), 100), Want: "202 without a body",
				Got: fmt.Sprint(a.Status), Revision: client.Older})
		}
	}
}

// openSessionWithID returns a session with an ID. It skips the check if there is none.
func openSessionWithID(t *review.T) (client.Session, bool) {
	s, ok := openLiveSession(t)
	if ok && s.ID == "" {
		t.Skip("the server keeps no sessions")
		return s, false
	}
	return s, ok
}

func checkSessionVersion(t *review.T) {
	s, ok := openLiveSession(t)
	if !ok {
		return
	}
	s.Version = "1999-01-01"
	if a := t.Tried(inSession(t, s, client.FirstUser, t.Client.ListBody())); a.Kind == client.Completed {
		t.Refute(review.Finding{Case: "1999-01-01", Severity: review.Critical, Issue: "a request of revision 1999-01-01 is served",
			Evidence: review.ExchangeText(a), Want: "400", Got: "served", Revision: client.Older})
	}
}

func checkSessionBatch(t *review.T) {
	s, ok := openSession(t, "2025-06-18", client.FirstUser)
	if !ok {
		return
	}
	if s.Version != "2025-06-18" {
		t.Skip("the server answers revision %s", s.Version)
		return
	}
	one := t.Client.ListBody()
	a := t.Tried(inSession(t, s, client.FirstUser, "["+one+","+t.Client.ListBody()+"]"))
	if a.Status == 200 && a.Exchange != nil && strings.Contains(string(a.Exchange.Body), `"tools"`) {
		t.Refute(review.Finding{Case: "two requests", Severity: review.Warning, Issue: "an array of requests is served",
			Evidence: review.SentText(a.Exchange) + " -> " + client.Short(string(a.Exchange.Body), 150), Want: "refused", Got: "served", Revision: "2025-06-18"})
	}
}

func checkSessionGet(t *review.T) {
	s, ok := openLiveSession(t)
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

func checkSecondInitialize(t *review.T) {
	s, ok := openSessionWithID(t)
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

func checkDowngrade(t *review.T) {
	if presentChangedStates(t); len(t.Findings) == 0 {
		callUnasked(t)
	}
}

// presentChangedStates presents a changed state in an older revision. The answer contains the changed
// value if the server uses the state.
func presentChangedStates(t *review.T) {
	f, ok := t.AskingTool()
	if !ok {
		return
	}
	s, ok := openLiveSession(t)
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
				t.Refute(review.Finding{Case: name, Severity: review.Critical, Issue: "a changed state is accepted without verification in revision " + client.Older,
					Evidence: client.Short(body, 300) + " -> " + a.String(), Want: "ignored", Got: "taken", Revision: client.Older})
				return
			}
		}
	}
	if t.Trials == 0 {
		t.Skip("the state cannot be read, so that no changed value can be looked for")
	}
}
