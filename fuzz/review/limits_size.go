package review

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sealab/internal/rawmcp"
)

// capacity are the checks of large and of unfinished requests.
var capacity = []Check{
	{ID: "X-SIZE", Name: "large requests", Over: "http", Effects: true, Severity: Warning, Category: "reliability",
		Sent: "arguments of 5 and 40 MiB for an unknown tool, also in chunks and compressed, a header of 100 kB, 90 headers", Want: "status 413 or 431, or an answer; the server goes on to answer", Source: "RFC 9110, section 15.5.14",
		Impact: "one client fills the memory of the server", Fix: "bound bodies and headers before they are read", Run: largeRequests},
	{ID: "X-SLOW", Name: "a request that is not finished", Over: "http", Effects: true, Severity: Warning, Category: "reliability",
		Sent: "a request whose body does not come for three seconds, and an honest one meanwhile", Want: "the honest one is answered at once", Source: "CWE-400, CWE-770",
		Impact: "one slow client stops the server for all others", Fix: "serve each connection on its own, and give requests a time limit", Timed: true, Run: unfinished},
}

func largeRequests(t *T) {
	if reason := t.control(); reason != "" {
		t.skip("%s", reason)
		return
	}
	for _, size := range []int{t.r.opts.Large / 8, t.r.opts.Large} {
		call := unknownCall
		call.Arguments = object(map[string]json.RawMessage{"a": quote(strings.Repeat("a", size))})
		a := t.send(t.wire(call))
		t.seen(variant{name: fmt.Sprint(size)}, a)
		name := fmt.Sprintf("%d MiB", size>>20)
		switch reason := t.unanswered(); {
		case reason != "":
			t.fault(name, Warning, "the server does not answer after a body of "+name+": "+reason, a)
			return
		case size == t.r.opts.Large && (a.Status/100 == 2 || a.Kind == failed && a.Status < 413):
			a.Exchange.Sent = a.Exchange.Sent[:min(len(a.Exchange.Sent), 400)]
			t.fault(name, Warning, "a body of "+name+" is read to its end", a)
		}
	}
	t.packedRequests()
	for _, h := range []struct {
		name          string
		count, length int
	}{{"a header of 100 kB", 1, 100_000}, {"90 headers", 90, 10}} {
		w := t.wire(listCall)
		for i := range h.count {
			w.add(fmt.Sprintf("X-Sealab-%d", i), strings.Repeat("a", h.length))
		}
		a := t.send(w)
		t.seen(variant{name: h.name}, a)
		if reason := t.unanswered(); reason != "" {
			t.fault(h.name, Warning, "the server does not answer after "+h.name+": "+reason, a)
			return
		}
	}
}

// A packing is another form of a body.
type packing struct {
	name, header, value string
	pack                func([]byte) []byte
}

var packings = []packing{
	{"in chunks", "Transfer-Encoding", "chunked", func(body []byte) []byte {
		return fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	}},
	{"compressed", "Content-Encoding", "gzip", func(body []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(body) // to memory
		_ = w.Close()
		return b.Bytes()
	}},
}

// packedRequests sends a call of an unknown tool in other forms. A server that reads a
// form is sent a large body in it.
func (t *T) packedRequests() {
	plain := t.send(t.wire(unknownCall))
	for _, p := range packings {
		sent := func(size int) Answer {
			call := unknownCall
			call.Arguments = object(map[string]json.RawMessage{"a": quote(strings.Repeat("a", size))})
			w := t.wire(call)
			w.set(p.header, p.value)
			if w.body = p.pack(w.body); p.header == "Transfer-Encoding" {
				none := -1
				w.length = &none
			}
			return t.send(w)
		}
		if small := sent(1); !small.conclusive() || small.refusal() != plain.refusal() {
			continue
		}
		a := sent(t.r.opts.Large)
		t.seen(variant{name: p.name}, a)
		if a.conclusive() && a.refusal() == plain.refusal() {
			a.Exchange.Sent = a.Exchange.Sent[:min(len(a.Exchange.Sent), 400)]
			t.fault(p.name, Warning, fmt.Sprintf("a body of %d MiB, %s, is read to its end", t.r.opts.Large>>20, p.name), a)
		}
	}
}

// unfinishedFor is how long the body of a request stays away.
const unfinishedFor = 3 * time.Second

func unfinished(t *T) {
	began := time.Now()
	if reason := t.control(); reason != "" {
		t.skip("%s", reason)
		return
	}
	usual := time.Since(began)
	w := t.wire(listCall)
	n := len(w.body) + 1000
	ended := make(chan struct{})
	http := *t.r.client.http
	go func() {
		defer close(ended)
		http.Do(t.ctx, rawmcp.Request{Verb: w.verb, Path: w.path, Headers: w.headers, Body: w.body[:10], Length: &n, Leave: true, Hold: unfinishedFor})
	}()
	defer func() { <-ended }()
	if err := SystemClock().Sleep(t.ctx, unfinishedFor/10); err != nil {
		t.skip("%v", err)
		return
	}
	began = time.Now()
	a := t.honestAnswer()
	took := time.Since(began)
	switch t.seen(variant{name: "unfinished"}, a); {
	case a.Kind == throttled || a.Kind == noBudget:
		t.skip("%v", a)
	case took > usual+unfinishedFor/2:
		t.fault("an unfinished body", Warning, fmt.Sprintf("an honest request waits for %v while a request of another connection is not finished", took.Round(100*time.Millisecond)), a)
	}
}
