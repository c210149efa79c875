package review

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"time"

	"sealab/internal/rawmcp"
)

// limits are the checks of long calls and large requests.
var limits = []Check{
	{ID: "X-CANCEL", Name: "a connection that is closed during a call", Over: "http", Era: "modern", Effects: true, Severity: Warning, Category: "reliability",
		Sent: "a call of the tool of --slow, whose connection is closed at once; the tool of --effect tells whether it ran", Want: "the work stops", Source: transportSpec,
		Impact: "work goes on that no client waits for", Fix: "pass the context of the request to the handler, and end with it", Timed: true, Run: disconnected},
	{ID: "X-TIME", Name: "a host that does not answer", Over: "http", Effects: true, Severity: Warning, Category: "reliability",
		Sent: "a call of the tool of --slow whose URL is a silent listener on this machine", Want: "an error within 30 seconds", Source: "CWE-400",
		Impact: "calls hang for as long as a foreign host likes", Fix: "give every call to another host a time limit", Timed: true, Run: silentHost},
	{ID: "L-CHANGED", Name: "a changed list", Over: "http", Era: "modern", Effects: true, Severity: Suggestion, Category: "transport",
		Sent: "subscriptions/listen for the list of tools, then a call of the tool of --changes", Want: "notifications/tools/list_changed", Source: "revision 2026-07-28, server/tools",
		Impact: "clients go on with an old list", Fix: "send notifications/tools/list_changed when the list changes", Timed: true, Run: listChanged},
}

// effect is the text of the tool of --effect.
func (t *T) effect() (string, bool) {
	a, ok := t.ask("the tool of --effect", Call{Method: "tools/call", Target: t.r.opts.Effect, Arguments: json.RawMessage("{}")})
	return a.Text, ok && a.Kind == completed
}

// disconnected tells by the text of another tool whether a call ran to its end: a
// whole call changes the text, and a closed one must not.
func disconnected(t *T) {
	call, ok := t.slowCall()
	if !ok {
		return
	}
	if t.r.opts.Effect == "" {
		t.skip("whether a call ran cannot be seen; --effect names a tool that tells it")
		return
	}
	before, ok := t.effect()
	began := time.Now()
	whole := t.r.client.call(t.ctx, call)
	took := time.Since(began)
	after, also := t.effect()
	if !ok || !also || whole.Kind != completed || before == after {
		t.skip("control: the text of %s is the same before and after a whole call: %v", t.r.opts.Effect, whole)
		return
	}
	var closed *rawmcp.Exchange
	for range closings {
		w := t.wire(call)
		closed = t.r.client.raw(t.ctx, rawmcp.Request{Verb: w.verb, Path: w.path, Headers: w.headers, Body: w.body, Leave: true, Hold: took / 4})
		if err := SystemClock().Sleep(t.ctx, 2*took); err != nil {
			t.skip("%v", err)
			return
		}
		last, ok := t.effect()
		if !ok || last == after {
			return
		}
		if closed.Took <= took/2 {
			t.refute(Finding{Case: call.Target, Severity: Warning, Issue: "a call runs to its end although its connection was closed", Evidence: fmt.Sprintf("%s: %s, then %s", t.r.opts.Effect, short(after, 100), short(last, 100)), Want: "the same text", Got: "another text"})
			return
		}
		after = last
	}
	t.skip("the connection was closed after %v, too late for a call of %v", closed.Took, took)
}

// closings is how often a connection is closed during a call. On a busy machine it may
// be closed after the call.
const closings = 3

func silentHost(t *T) {
	call, ok := t.slowCall()
	if !ok {
		return
	}
	argument := t.urlArgument(call.Target)
	if argument == "" {
		t.skip("no argument of %s takes a URL", call.Target)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.skip("listening: %v", err)
		return
	}
	defer l.Close()
	call.Arguments = object(map[string]json.RawMessage{argument: quote("http://" + l.Addr().String() + "/")})
	c := *t.r.client.http
	c.Limits.Time = t.r.opts.Hang
	w := t.wire(call)
	e := c.Do(t.ctx, rawmcp.Request{Verb: w.verb, Path: w.path, Headers: w.headers, Body: w.body, Done: isAnswer(w.id)})
	t.r.client.kept(e)
	a := read(e, w.id)
	t.seen(variant{name: argument}, a)
	if a.Kind == broken && strings.Contains(fmt.Sprint(e.Err), "deadline") {
		t.fault(argument, Warning, fmt.Sprintf("no answer within %v while a host is silent", t.r.opts.Hang), a)
	}
}

// urlArgument is the first argument of a tool that takes a URL.
func (t *T) urlArgument(tool string) string {
	for _, x := range t.r.Report.Server.Tools {
		properties := parseSchema(x.Input).Properties
		for _, name := range sortedKeys(properties) {
			s := parseSchema(properties[name])
			if x.Name == tool && s.typeOf() == "string" && (s.Format == "uri" || s.Format == "url" || strings.Contains(strings.ToLower(name), "url")) {
				return name
			}
		}
	}
	return ""
}

// listChanged reads a subscription while a tool changes the list.
func listChanged(t *T) {
	if t.r.opts.Changes == "" {
		t.skip("no tool is known that changes the list; --changes names one")
		return
	}
	c := t.r.client
	before := t.tools()
	c.id++
	id := c.id
	body, err := json.Marshal(message{"2.0", id, "subscriptions/listen", map[string]any{"_meta": (Call{}).meta(), "notifications": map[string]bool{"toolsListChanged": true}}})
	if err != nil {
		t.skip("%v", err)
		return
	}
	told, opened := make(chan bool, 1), make(chan struct{})
	headers := c.callHeaders(t.ctx, Call{Method: "subscriptions/listen"})
	go func() {
		http, seen := *c.http, false
		defer func() { told <- seen }()
		http.Limits.Time = t.r.opts.Hang
		http.Do(t.ctx, rawmcp.Request{Verb: "POST", Path: c.http.Path(), Headers: headers, Body: body, Done: func(m []byte) bool {
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
		t.skip("subscriptions/listen opens no stream")
		return
	}
	if _, ok := t.ask(t.r.opts.Changes, Call{Method: "tools/call", Target: t.r.opts.Changes, Arguments: json.RawMessage("{}")}); !ok {
		return
	}
	if t.tools() == before {
		t.skip("%s does not change the list", t.r.opts.Changes)
		return
	}
	if !<-told {
		t.refute(Finding{Case: t.r.opts.Changes, Severity: Suggestion, Issue: "the list of tools changes and no subscriber is told", Evidence: fmt.Sprintf("no notifications/tools/list_changed within %v", t.r.opts.Hang), Want: "told", Got: "not told"})
	}
}

// tools are the names of all pages of the list.
func (t *T) tools() string {
	var names []string
	call := listCall
	for range maxPages {
		a := t.r.client.call(t.ctx, call)
		var r struct {
			Tools []struct{ Name string }
			Next  string `json:"nextCursor"`
		}
		_ = json.Unmarshal(a.Result, &r) // another form has no names
		for _, tool := range r.Tools {
			names = append(names, tool.Name)
		}
		if call.Cursor = r.Next; r.Next == "" {
			break
		}
	}
	return strings.Join(names, " ")
}
