package sessions

import (
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

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
