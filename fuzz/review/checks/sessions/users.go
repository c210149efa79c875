package sessions

import (
	"fmt"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/internal/rawmcp"
)

// strangerChecks are the checks of requests of other users and sites in a session.
var strangerChecks = []review.Check{
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
}

func checkOtherUsersSession(t *review.T) {
	s, ok := openSessionWithID(t)
	if !ok || !knowsSecondUser(t, s) {
		return
	}
	own, ok := openSession(t, client.Older, client.SecondUser)
	if !ok {
		return
	}
	if a := inSession(t, own, client.SecondUser, t.Client.ListBody()); a.Kind != client.Completed {
		t.Skip("control: the second user's own session: %v", a)
		return
	}
	for _, as := range []client.User{client.SecondUser, client.Nobody} {
		name := map[client.User]string{client.SecondUser: "the second user", client.Nobody: "nobody"}[as]
		if a, lives := servesRequest(t, s, as, own, client.SecondUser); lives {
			t.Refute(review.Finding{Case: name, Severity: review.Critical, Issue: "the session of the first user is used by " + name,
				Evidence: review.ExchangeText(a), Want: "401, 403 or 404", Got: "served"})
			continue
		}
		if a, pings := answersPing(t, s, as, own); pings {
			t.Refute(review.Finding{Case: "ping, by " + name, Severity: review.Warning,
				Issue:    "a ping in the session of the first user is answered to " + name,
				Evidence: review.ExchangeText(a), Want: "401, 403 or 404", Got: "served"})
		}
		if e := streamOf(t, s, as); e.Stream {
			t.Refute(review.Finding{Case: "the stream, by " + name, Severity: review.Critical,
				Issue:    "the stream of the first user's session is opened by " + name,
				Evidence: review.SentText(e) + " -> status 200", Want: "401, 403 or 404", Got: "200"})
		}
		deleteAsOtherUser(t, as, name)
	}
}

// knowsSecondUser reports whether the second user is known, and the server distinguishes users. It
// skips the check if not.
func knowsSecondUser(t *review.T, s client.Session) bool {
	if len(t.Options.Target.Second) == 0 {
		t.Skip("one user alone is known; --second gives the credentials of another")
		return false
	}
	if a := inSession(t, client.Session{Version: s.Version}, client.Stranger, t.Client.ListBody()); a.Status != 401 && a.Status != 403 {
		if b := t.Client.Initialize(t.Context, client.Older, client.Stranger); b.Kind == client.Completed {
			t.Skip("made-up credentials open a session as well, so that the server knows no users")
			return false
		}
	}
	return true
}

// answersPing reports whether a ping is answered in a session but not in a made-up one.
func answersPing(t *review.T, s client.Session, as client.User, own client.Session) (client.Answer, bool) {
	ping := func(s client.Session, as client.User) client.Answer {
		t.Client.ID++
		return inSession(t, s, as, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, t.Client.ID))
	}
	none := own
	none.ID = madeUpID(own.ID)
	a := t.Tried(ping(s, as))
	return a, a.Kind == client.Completed && ping(none, client.SecondUser).Kind != client.Completed
}

// streamOf opens the stream of a session as a user, with additional headers.
func streamOf(t *review.T, s client.Session, as client.User, more ...rawmcp.Header) *rawmcp.Exchange {
	return getWith(t, &client.Request{Headers: append(t.Client.SessionHeaders(s, as), more...)}, "text/event-stream")
}

// getWith sends GET with the headers of a request, and reads the headers of the answer of an accepted
// type.
func getWith(t *review.T, w *client.Request, accept string) *rawmcp.Exchange {
	w.Set("Accept", accept)
	w.Drop("Content-Type")
	e := t.Client.Raw(t.Context, rawmcp.Request{Verb: "GET", Path: t.Client.HTTP.Path(), Headers: w.Headers, Head: true})
	t.Trials++
	return e
}

// deleteAsOtherUser records a finding if DELETE by another user ends a session of the first user,
// twice. Each session is live before.
func deleteAsOtherUser(t *review.T, as client.User, name string) {
	evidence := ""
	for range 2 {
		s, ok := openLiveSession(t)
		if !ok {
			return
		}
		e := deleteSession(t, s, as)
		t.Trials++
		if e.Status/100 != 2 {
			return
		}
		a := inSession(t, s, client.FirstUser, t.Client.ListBody())
		if !a.Refused() {
			return
		}
		evidence = fmt.Sprintf("%s -> status %d; then tools/list by the first user -> %v", review.SentText(e), e.Status, a)
	}
	t.Refute(review.Finding{Case: "DELETE by " + name, Severity: review.Critical, Issue: "the session of the first user is ended by " + name,
		Evidence: evidence, Want: "401, 403 or 404", Got: "ended"})
}

func checkSessionOrigin(t *review.T) {
	if _, ok := openSession(t, client.Older, client.FirstUser); !ok {
		return
	}
	severity := review.Warning
	w := t.InitializeRequest(client.Older)
	w.Set("Host", "evil.example")
	if t.OnLoopback() && client.Served(t.Send(w)) {
		severity = review.Critical
	}
	if w = t.InitializeRequest(client.Older); !t.Modern() {
		if w.Set("Origin", "https://evil.example"); client.Served(t.Send(w)) {
			t.Skip("initialize is served with a foreign Origin: see H-ORIGIN")
			return
		}
	}
	t.RunCase(review.Case{Name: "Origin: https://evil.example", Judge: review.WantRefused(severity), Alter: func(w *client.Request) {
		t.Initializing(w, client.Older)
		w.Set("Origin", "https://evil.example")
	}})
	if len(t.Findings) == 0 {
		sendOriginsInSession(t, severity)
	}
	if len(t.Findings) == 0 {
		sendHosts(t)
	}
}

// sendHosts sends a foreign name in Host, and in Origin as well. A page of that name does so after DNS
// rebinding. If the newest revision serves it, H-HOST tells.
func sendHosts(t *review.T) {
	for _, name := range []string{"Host", "Host and Origin"} {
		alter := func(w *client.Request) {
			if w.Set("Host", "evil.example"); name != "Host" {
				w.Set("Origin", "http://evil.example")
			}
		}
		if !t.OnLoopback() || client.Served(t.SendAny(alter)) {
			return
		}
		first := review.Case{Name: name + ": evil.example", Judge: review.WantRefused(review.Critical), Alter: func(w *client.Request) {
			t.Initializing(w, client.Older)
			alter(w)
		}}
		if t.RunCase(first); len(t.Findings) == 0 {
			sendHostInSession(t, name, alter)
		}
		if len(t.Findings) > 0 {
			return
		}
	}
}

// sendHostInSession alters requests and a stream in a session.
func sendHostInSession(t *review.T, name string, alter func(*client.Request)) {
	s, ok := openLiveSession(t)
	if !ok {
		return
	}
	w := &client.Request{Headers: t.Client.SessionHeaders(s, client.FirstUser)}
	alter(w)
	if a := t.Tried(t.Client.RawCall(t.Context, w.Headers, []byte(t.Client.ListBody()))); a.Kind == client.Completed {
		t.Refute(review.Finding{Case: name + ": evil.example, in a session", Severity: review.Critical,
			Issue: "tools/list with evil.example in " + name + " is served in a session", Evidence: review.ExchangeText(a), Want: "403", Got: "served"})
		return
	}
	if e := getWith(t, w, "text/event-stream"); e.Stream {
		t.Refute(review.Finding{Case: name + ": evil.example, GET", Severity: review.Warning,
			Issue: "GET with evil.example in " + name + " opens a stream, and POST is refused", Evidence: review.SentText(e) + " -> status 200", Want: "403", Got: "200"})
	}
}

// sendOriginsInSession sends foreign origins after the handshake, because some servers check only
// the handshake.
func sendOriginsInSession(t *review.T, severity review.Severity) {
	s, ok := openLiveSession(t)
	if !ok {
		return
	}
	for _, o := range []string{"https://evil.example", "null"} {
		headers := append(t.Client.SessionHeaders(s, client.FirstUser), rawmcp.Header{Name: "Origin", Value: o})
		if a := t.Tried(t.Client.RawCall(t.Context, headers, []byte(t.Client.ListBody()))); a.Kind == client.Completed {
			t.Refute(review.Finding{Case: "Origin: " + o + ", in a session", Severity: severity,
				Issue: "tools/list with Origin " + o + " is served in a session", Evidence: review.ExchangeText(a), Want: "403", Got: "served"})
			return
		}
	}
	e := streamOf(t, s, client.FirstUser, rawmcp.Header{Name: "Origin", Value: "https://evil.example"})
	if e.Stream {
		t.Refute(review.Finding{Case: "Origin: https://evil.example, GET", Severity: review.Warning,
			Issue:    "GET with Origin https://evil.example opens a stream, and POST is refused",
			Evidence: review.SentText(e) + " -> status 200", Want: "403", Got: "200"})
	}
}
