package sessions

import (
	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/internal/rawmcp"
)

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
