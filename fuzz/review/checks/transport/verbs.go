package transport

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

// verbChecks are the checks of HTTP methods other than POST, and of headers of older revisions.
var verbChecks = []review.Check{
	{
		ID: "H-SESSION", Name: "a session ID in a revision without sessions", Over: "http", Era: "modern", Severity: review.Suggestion, Category: "transport",
		Sent:   "tools/list with a made-up Mcp-Session-Id",
		Want:   "ignores the header and does not repeat it",
		Source: transportSpec,
		Impact: "a client of older revisions is refused, or its header is reflected",
		Fix:    "ignore the header",
		Run:    checkSessionHeader,
	},
	{
		ID: "H-LASTID", Name: "Last-Event-ID in a revision without resumption", Over: "http", Era: "modern", Severity: review.Suggestion, Category: "transport",
		Sent:   "tools/list with Last-Event-ID",
		Want:   "ignores the header",
		Source: transportSpec,
		Impact: "a client of older revisions is refused",
		Fix:    "ignore the header",
		Run:    checkLastEventID,
	},
	{
		ID: "H-VERB", Name: "an HTTP method other than POST", Over: "http", Era: "modern", Severity: review.Warning, Category: "transport",
		Sent: "PUT, PATCH, DELETE, HEAD and TRACE; GET and OPTIONS; if GET opens no stream, tools/list by GET: in " +
			"the body, in the query, and with X-HTTP-Method-Override",
		Want:   "answers status 405; may open a stream for GET, and may answer OPTIONS as a preflight",
		Source: transportSpec,
		Impact: "proxies and monitors misread the server; a call by GET can be made by a link and is cached, logged " +
			"and repeated; TRACE shows credentials to web pages",
		Fix: "answer 405 with Allow",
		Run: checkVerbs,
	},
}

func checkSessionHeader(t *review.T) {
	t.Cases(review.Case{Name: "a made-up session", Alter: client.WithHeader("Mcp-Session-Id", "sealab-made-up"), Judge: func(a client.Answer) (review.Severity, string) {
		if a.Exchange != nil && a.Exchange.Header("Mcp-Session-Id") == "sealab-made-up" {
			return review.Suggestion, "the session is repeated in the response"
		}
		return review.WantServed(review.Suggestion)(a)
	}})
}

func checkLastEventID(t *review.T) {
	t.Cases(review.Case{Name: "Last-Event-ID", Alter: client.WithHeader("Last-Event-ID", "1"), Judge: review.WantServed(review.Suggestion)})
}

func checkVerbs(t *review.T) {
	var all []review.Case
	for _, v := range []string{"PUT", "PATCH", "DELETE", "HEAD"} {
		all = append(all, review.Case{Name: v, Alter: func(w *client.Request) {
			if w.Verb = v; v == "HEAD" || v == "DELETE" {
				w.Body = nil
			}
		}, Judge: func(a client.Answer) (review.Severity, string) {
			switch {
			case a.Status == 405 || a.Status == 501 || a.Status == 401 || a.Status == 403:
				return "", ""
			case v == "DELETE" && (a.Status == 400 || a.Status == 404) && (len(t.Report.Server.Revisions) > 1 || a.Contains("ession")): // of no session (older revisions)
				return "", ""
			case strings.HasPrefix(fmt.Sprint(a.Status), "2"):
				return review.Suggestion, fmt.Sprintf("answered with status %d", a.Status)
			}
			return review.Suggestion, fmt.Sprintf("status %d instead of 405", a.Status)
		}})
	}
	for _, v := range []string{"GET", "OPTIONS"} {
		all = append(all, review.Case{Name: v, Alter: func(w *client.Request) { w.Verb, w.Body, w.Head = v, nil, true }, Judge: func(a client.Answer) (review.Severity, string) {
			if a.Status > 0 && a.Status < 500 && (a.Status != 200 || v == "OPTIONS" || a.Exchange.Stream) || a.Status == 501 {
				return "", ""
			}
			return review.Suggestion, fmt.Sprintf("answered with status %d and no stream", a.Status)
		}})
	}
	all = append(all, review.Case{Name: "TRACE", Alter: func(w *client.Request) {
		w.Verb, w.Body = "TRACE", nil
		w.Set("X-Sealab", review.EchoProbe)
	}, Judge: review.FaultIf(review.Warning, "repeats the headers of the request", func(a client.Answer) bool {
		return a.Contains(review.EchoProbe)
	})})
	t.Cases(append(all, getRequests(t)...)...)
}

// getRequests returns honest requests by GET. It returns none if the server opens a stream for GET.
func getRequests(t *review.T) []review.Case {
	w := t.Request(t.Client.Listing)
	w.Verb, w.Body, w.Head = "GET", nil, true
	if a := t.Send(w); a.Exchange == nil || a.Exchange.Stream || a.Exchange.Status == 0 {
		return nil
	}
	judge := review.FaultIf(review.Warning, "served", func(a client.Answer) bool {
		return client.Served(a) || a.Status == 200 && a.Contains(`"result"`) // the ID from a query is a string
	})
	get := func(w *client.Request) {
		n := len(w.Body)
		w.Verb, w.Length = "GET", &n
	}
	return []review.Case{
		{Name: "GET with the request in its body", Alter: get, Judge: judge},
		{Name: "GET with the request in the query", Alter: func(w *client.Request) {
			var m map[string]json.RawMessage
			_ = json.Unmarshal(w.Body, &m) // our own body
			w.Path += "?" + url.Values{"jsonrpc": {"2.0"}, "id": {string(m["id"])}, "method": {t.Client.Listing.Method}, "params": {string(m["params"])}}.Encode()
			w.Verb, w.Body = "GET", nil
		}, Judge: judge},
		{Name: "GET with X-HTTP-Method-Override", Alter: func(w *client.Request) {
			get(w)
			w.Set("X-HTTP-Method-Override", "POST")
		}, Judge: judge},
	}
}
