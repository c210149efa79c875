package transport

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// longCallChecks are the checks of long calls and of changes during a call.
var longCallChecks = []review.Check{
	{
		ID: "X-CANCEL", Name: "a connection closed during a call", Over: "http", Era: "modern", Effects: true, Severity: review.Warning, Category: "reliability",
		Sent: "a call of the tool named by --slow, whose connection is closed after a quarter of its usual time; the " +
			"tool of --effect shows whether the call was completed",
		Want:   "stops the work",
		Source: transportSpec,
		Impact: "the server works for a client that no longer waits",
		Fix:    "pass the context of the request to the handler, and stop when it is canceled",
		Timed:  true, Run: checkDisconnect,
	},
	{
		ID: "X-TIME", Name: "a remote host that does not answer", Over: "http", Effects: true, Severity: review.Warning, Category: "reliability",
		Sent:   "a call of the tool named by --slow with the URL of a listener on this machine that never answers",
		Want:   "answers an error within 30 seconds",
		Source: "CWE-400",
		Impact: "calls hang for as long as the remote host chooses",
		Fix:    "set a time limit on every request to another host",
		Timed:  true, Run: checkSilentHost,
	},
	{
		ID: "L-CHANGED", Name: "a change of the tool list without notification", Over: "http", Era: "modern", Effects: true, Severity: review.Suggestion, Category: "transport",
		Sent:   "subscriptions/listen for the list of tools, then a call of the tool named by --changes",
		Want:   "sends notifications/tools/list_changed",
		Source: "revision 2026-07-28, server/tools",
		Impact: "clients use an outdated list",
		Fix:    "send notifications/tools/list_changed when the list changes",
		Timed:  true, Run: checkListChanged,
	},
}

// effectText returns the text of the tool of --effect.
func effectText(t *review.T) (string, bool) {
	a, ok := t.Ask("the tool of --effect", client.Call{Method: "tools/call", Target: t.Options.Effect, Arguments: json.RawMessage("{}")})
	return a.Text, ok && a.Kind == client.Completed
}

// checkDisconnect closes the connection during a call. The text of another tool shows whether a
// call ran to its end: a complete call changes it, and a closed one must not.
func checkDisconnect(t *review.T) {
	call, ok := t.SlowCall()
	if !ok {
		return
	}
	if t.Options.Effect == "" {
		t.Skip("whether a call ran cannot be seen; --effect names a tool that reveals it")
		return
	}
	before, ok := effectText(t)
	began := time.Now()
	whole := t.Call(call)
	took := time.Since(began)
	after, also := effectText(t)
	if !ok || !also || whole.Kind != client.Completed || before == after {
		t.Skip("control: the text of %s is the same before and after a whole call: %v", t.Options.Effect, whole)
		return
	}
	var closed *rawmcp.Exchange
	for range closeAttempts {
		w := t.Request(call)
		closed = t.Client.Raw(t.Context, rawmcp.Request{Verb: w.Verb, Path: w.Path, Headers: w.Headers, Body: w.Body, Leave: true, Hold: took / 4})
		if t.SkipOn(client.SystemClock().Sleep(t.Context, 2*took)) {
			return
		}
		last, ok := effectText(t)
		if !ok || last == after {
			return
		}
		if closed.Took <= took/2 {
			t.Refute(review.Finding{Case: call.Target, Severity: review.Warning, Issue: "a call runs to its end although its connection was closed",
				Evidence: fmt.Sprintf("%s: %s, then %s", t.Options.Effect, client.Short(after, 100), client.Short(last, 100)), Want: "the same text", Got: "another text"})
			return
		}
		after = last
	}
	t.Skip("the connection was closed after %v, too late for a call of %v", closed.Took, took)
}

// closeAttempts is the number of times that a connection is closed during a call. On a busy machine
// it may be closed after the call.
const closeAttempts = 3

func checkSilentHost(t *review.T) {
	call, ok := t.SlowCall()
	if !ok {
		return
	}
	argument := t.URLArgument(call.Target)
	if argument == "" {
		t.Skip("no argument of %s takes a URL", call.Target)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("listening: %v", err)
		return
	}
	defer l.Close()
	call.Arguments = jsondoc.Object(map[string]json.RawMessage{argument: jsondoc.Quote("http://" + l.Addr().String() + "/")})
	c := *t.Client.HTTP
	c.Limits.Time = t.Options.Hang
	w := t.Request(call)
	e := c.Do(t.Context, w.Raw())
	t.Client.Keep(e)
	a := client.ReadAnswer(e, w.ID)
	t.Trials++
	if a.Kind == client.Broken && strings.Contains(fmt.Sprint(e.Err), "deadline") {
		t.Fault(argument, review.Warning, fmt.Sprintf("no answer within %v while a host is silent", t.Options.Hang), a)
	}
}

// checkListChanged reads a subscription while a tool changes the list.
func checkListChanged(t *review.T) {
	if t.Options.Changes == "" {
		t.Skip("no tool is known that changes the list; --changes names one")
		return
	}
	c := t.Client
	before := toolNames(t)
	body, err := c.ListenBody(map[string]bool{"toolsListChanged": true})
	if t.SkipOn(err) {
		return
	}
	told, opened := make(chan bool, 1), make(chan struct{})
	headers := c.Headers(t.Context, client.Listen)
	go func() {
		http, seen := *c.HTTP, false
		defer func() { told <- seen }()
		http.Limits.Time = t.Options.Hang
		http.Do(t.Context, rawmcp.Request{Verb: "POST", Path: c.HTTP.Path(), Headers: headers, Body: body, Done: func(m []byte) bool {
			if strings.Contains(string(m), "subscriptions/acknowledged") {
				close(opened)
			}
			seen = strings.Contains(string(m), "notifications/tools/list_changed")
			return seen
		}})
	}()
	select {
	case <-opened:
	case <-told:
		t.Skip("subscriptions/listen opens no stream")
		return
	}
	if _, ok := t.Ask(t.Options.Changes, client.Call{Method: "tools/call", Target: t.Options.Changes, Arguments: json.RawMessage("{}")}); !ok {
		return
	}
	if toolNames(t) == before {
		t.Skip("%s does not change the list", t.Options.Changes)
		return
	}
	if !<-told {
		t.Refute(review.Finding{Case: t.Options.Changes, Severity: review.Suggestion, Issue: "the list of tools changes without a notification to subscribers",
			Evidence: fmt.Sprintf("no notifications/tools/list_changed within %v", t.Options.Hang), Want: "told", Got: "not told"})
	}
}

// toolNames returns the names of the tools on all pages of the list.
func toolNames(t *review.T) string {
	var names []string
	call := client.ListTools
	for range review.MaxPages {
		a := t.Call(call)
		var r struct {
			Tools []struct{ Name string }
			Next  string `json:"nextCursor"`
		}
		_ = json.Unmarshal(a.Result, &r) // a result of another form has no names
		for _, tool := range r.Tools {
			names = append(names, tool.Name)
		}
		if call.Cursor = r.Next; r.Next == "" {
			break
		}
	}
	return strings.Join(names, " ")
}

// largeRequestChecks are the checks of large and of unfinished requests.
var largeRequestChecks = []review.Check{
	{
		ID: "X-SIZE", Name: "large requests", Over: "http", Effects: true, Locks: true, Severity: review.Warning, Category: "reliability",
		Sent: "a call of an unknown tool with arguments of 5 and 40 MiB; 40 MiB also chunked and gzip-compressed, " +
			"if the server reads such bodies; a header of 100 kB; 90 headers",
		Want: "refuses the body of 40 MiB without reading it to the end, with status 413; may refuse headers with " +
			"status 431; continues to answer",
		Source: "RFC 9110, section 15.5.14",
		Impact: "one client fills the memory of the server",
		Fix:    "limit the size of bodies, also after decompression, and of headers",
		Run:    checkLargeRequests,
	},
	{
		ID: "X-SLOW", Name: "a request whose body does not arrive", Over: "http", Effects: true, Locks: true, Severity: review.Warning, Category: "reliability",
		Sent: "a request that withholds its body for three seconds, and meanwhile an unaltered request over " +
			"another connection",
		Want:   "answers the other request at once",
		Source: "CWE-400, CWE-770",
		Impact: "one slow client blocks the server for all others",
		Fix:    "serve connections concurrently, and set a time limit on reading a request",
		Timed:  true, Run: checkUnfinishedBody,
	},
}

func checkLargeRequests(t *review.T) {
	if t.SkipFor(t.Control()) {
		return
	}
	for _, size := range []int{t.Options.Large / 8, t.Options.Large} {
		call := client.UnknownCall
		call.Arguments = jsondoc.Object(map[string]json.RawMessage{"a": jsondoc.Quote(strings.Repeat("a", size))})
		a := t.Tried(t.Send(t.Request(call)))
		name := fmt.Sprintf("%d MiB", size>>20)
		switch reason := t.Unanswered(); {
		case reason != "":
			t.Fault(name, review.Warning, "the server does not answer after a body of "+name+": "+reason, a)
			return
		case size == t.Options.Large && a.Exchange.Whole && (a.Status/100 == 2 || a.Kind == client.Failed && a.Status < 413):
			a.Exchange.Sent = a.Exchange.Sent[:min(len(a.Exchange.Sent), 400)]
			t.Fault(name, review.Warning, "a body of "+name+" is read to its end", a)
		}
	}
	sendEncodedBodies(t)
	for _, h := range []struct {
		name          string
		count, length int
	}{{"a header of 100 kB", 1, 100_000}, {"90 headers", 90, 10}} {
		w := t.Request(t.Client.Listing)
		for i := range h.count {
			w.Add(fmt.Sprintf("X-Sealab-%d", i), strings.Repeat("a", h.length))
		}
		a := t.Tried(t.Send(w))
		if reason := t.Unanswered(); reason != "" {
			t.Fault(h.name, review.Warning, "the server does not answer after "+h.name+": "+reason, a)
			return
		}
	}
}

// A bodyEncoding is an encoding of a body.
type bodyEncoding struct {
	name, header, value string
	pack                func([]byte) []byte
}

var bodyEncodings = []bodyEncoding{
	{"in chunks", "Transfer-Encoding", "chunked", func(body []byte) []byte {
		return fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	}},
	{"compressed", "Content-Encoding", "gzip", func(body []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(body) // a write to memory does not fail
		_ = w.Close()
		return b.Bytes()
	}},
}

// sendEncodedBodies sends a small call in each encoding. If the server reads the encoding, it sends
// a large body in it.
func sendEncodedBodies(t *review.T) {
	plain := t.Send(t.Request(client.UnknownCall))
	for _, p := range bodyEncodings {
		sent := func(size int) client.Answer {
			call := client.UnknownCall
			call.Arguments = jsondoc.Object(map[string]json.RawMessage{"a": jsondoc.Quote(strings.Repeat("a", size))})
			w := t.Request(call)
			w.Set(p.header, p.value)
			if w.Body = p.pack(w.Body); p.header == "Transfer-Encoding" {
				w.Length = new(-1)
			}
			return t.Send(w)
		}
		if small := sent(1); !small.Conclusive() || small.Refusal() != plain.Refusal() {
			continue
		}
		a := sent(t.Options.Large)
		t.Trials++
		if a.Conclusive() && a.Refusal() == plain.Refusal() {
			a.Exchange.Sent = a.Exchange.Sent[:min(len(a.Exchange.Sent), 400)]
			t.Fault(p.name, review.Warning, fmt.Sprintf("a body of %d MiB, %s, is read to its end", t.Options.Large>>20, p.name), a)
		}
	}
}

// bodyDelay is how long a request withholds its body.
const bodyDelay = 3 * time.Second

func checkUnfinishedBody(t *review.T) {
	began := time.Now()
	if t.SkipFor(t.Control()) {
		return
	}
	usual := time.Since(began)
	w := t.Request(t.Client.Listing)
	n := len(w.Body) + 1000
	ended := make(chan struct{})
	http := *t.Client.HTTP
	go func() {
		defer close(ended)
		http.Do(t.Context, rawmcp.Request{Verb: w.Verb, Path: w.Path, Headers: w.Headers, Body: w.Body[:10], Length: &n, Leave: true, Hold: bodyDelay})
	}()
	defer func() { <-ended }()
	if t.SkipOn(client.SystemClock().Sleep(t.Context, bodyDelay/10)) {
		return
	}
	began = time.Now()
	a := t.HonestAnswer()
	took := time.Since(began)
	switch t.Trials++; {
	case a.Withheld():
		t.Skip("%v", a)
	case took > usual+bodyDelay/2:
		t.Fault("an unfinished body", review.Warning, fmt.Sprintf("an honest request waits for %v while a request of another connection is not finished", took.Round(100*time.Millisecond)), a)
	}
}
