package transport

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// largeRequestChecks are the checks of large and of unfinished requests.
var largeRequestChecks = []review.Check{
	{
		ID: "X-SIZE", Name: "large requests", Over: "http", Effects: true, Severity: review.Warning, Category: "reliability",
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
		ID: "X-SLOW", Name: "a request whose body does not arrive", Over: "http", Effects: true, Severity: review.Warning, Category: "reliability",
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
