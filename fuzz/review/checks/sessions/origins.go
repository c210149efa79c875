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
	c := review.Case{Name: "Origin: https://evil.example", Alter: func(w *client.Request) {
		t.Initializing(w, client.Older)
		w.Set("Origin", "https://evil.example")
	}}
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
	c.Judge = review.WantRefused(severity)
	t.RunCase(c)
	for i := range t.Findings {
		t.Findings[i].Revision = client.Older
	}
	if len(t.Findings) == 0 {
		sendOriginsInSession(t, severity)
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
				Issue: "tools/list with Origin " + o + " is served in a session", Evidence: review.ExchangeText(a), Want: "403", Got: "served", Revision: client.Older})
			return
		}
	}
	e := streamOf(t, s, client.FirstUser, rawmcp.Header{Name: "Origin", Value: "https://evil.example"})
	if e.Stream {
		t.Refute(review.Finding{Case: "Origin: https://evil.example, GET", Severity: review.Warning,
			Issue:    "GET with Origin https://evil.example opens a stream, and POST is refused",
			Evidence: review.SentText(e) + " -> status 200", Want: "403", Got: "200", Revision: client.Older})
	}
}
