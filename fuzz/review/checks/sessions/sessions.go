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
)

const lifecycleSpec = "revision 2025-11-25, basic/lifecycle"

const oldTransportSpec = "revision 2025-11-25, basic/transports"

// Checks returns the checks of sessions, in the order in which they run. They are not tested on a server
// without the older revisions over HTTP.
func Checks() []review.Check {
	return slices.Concat(negotiationChecks, idChecks, requestChecks, strangerChecks, downgradeChecks, sessionStreamChecks, taskChecks)
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

// requestOf returns the request of a call in a session, with the next ID.
func requestOf(t *review.T, call client.Call) string {
	member := "name"
	if call.Method == "resources/read" {
		member = "uri"
	}
	params := fmt.Sprintf("%q:%s", member, jsondoc.Quote(call.Target))
	if len(call.Arguments) > 0 {
		params += fmt.Sprintf(`,"arguments":%s`, call.Arguments)
	}
	return t.Client.SessionBody(call.Method, params)
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

// negotiationChecks are the checks of the revision of a session, and of messages without an answer.
var negotiationChecks = []review.Check{
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
		got := client.VersionOf(a)
		if a.Kind == client.Completed && got != client.Modern && !known[got] && (got == v || !negotiates(t, got)) {
			t.Refute(review.Finding{Case: v, Severity: review.Warning,
				Issue:    fmt.Sprintf("initialize %s is answered by revision %s", v, client.Short(got, 30)),
				Evidence: review.SentText(a.Exchange) + " -> " + client.Short(string(a.Result), 200), Want: "a supported revision", Got: got})
		}
	}
}

// negotiates reports whether the server answers initialize of a revision with that revision, which may
// be one of its own.
func negotiates(t *review.T, revision string) bool {
	a := t.Client.Initialize(t.Context, revision, client.FirstUser)
	return a.Kind == client.Completed && client.VersionOf(a) == revision
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
	for name, body := range jsondoc.InOrder(unansweredMessages) {
		a := t.Tried(inSession(t, s, client.FirstUser, body))
		if a.Exchange != nil && a.Status/100 == 2 && (a.Status != 202 || len(strings.TrimSpace(string(a.Exchange.Body))) > 0 && string(a.Exchange.Body) != "null") {
			t.Refute(review.Finding{Case: name, Severity: review.Warning,
				Issue:    fmt.Sprintf("%s is answered with status %d and %d bytes", name, a.Status, len(a.Exchange.Body)),
				Evidence: review.SentText(a.Exchange) + " -> " + client.Short(string(a.Exchange.Body), 100), Want: "202 without a body", Got: fmt.Sprint(a.Status)})
		}
	}
}

// openSessionWithID returns a session with an ID. It skips the check without one.
func openSessionWithID(t *review.T) (client.Session, bool) {
	s, ok := openLiveSession(t)
	if ok && s.ID == "" {
		t.Skip("the server keeps no sessions")
		return s, false
	}
	return s, ok
}

// requestChecks are the checks of requests in a session.
var requestChecks = []review.Check{
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
}

func checkSessionVersion(t *review.T) {
	s, ok := openLiveSession(t)
	if !ok {
		return
	}
	s.Version = "1999-01-01"
	if a := t.Tried(inSession(t, s, client.FirstUser, t.Client.ListBody())); a.Kind == client.Completed {
		t.Refute(review.Finding{Case: "1999-01-01", Severity: review.Critical, Issue: "a request of revision 1999-01-01 is served",
			Evidence: review.ExchangeText(a), Want: "400", Got: "served"})
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
		e := getWith(t, w, c.accept)
		if e.Status == 200 {
			t.Refute(review.Finding{Case: c.name, Severity: review.Suggestion, Issue: "GET with " + c.name + " opens a stream",
				Evidence: review.SentText(e) + " -> status 200", Want: "405, 406 or 400", Got: "200"})
		}
	}
}
