package review

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sealab/internal/rawmcp"
)

// pushing are the checks of questions, cancellation and lost streams in sessions.
var pushing = []Check{
	{ID: "S-FIX", Name: "a session id that the client chose", Over: "http", Era: "legacy", Severity: Critical, Category: "security",
		Sent: "initialize with a made-up id in Mcp-Session-Id, in a cookie, in the query and in params, then tools/list with it", Want: "an error, or another id", Source: oldTransport + ", security best practices (CWE-384)",
		Impact: "an attacker hands an id out and then uses the session of whoever took it", Fix: "draw the id on the server and ignore that of the request", Run: chosenSession},
	{ID: "S-PUSH", Name: "a question in a session", Over: "http", Era: "legacy", Effects: true, Severity: Critical, Category: "reliability",
		Sent: "a call of a tool that asks; its question is accepted by a POST, and by one in a session of the second user before its own declines it", Want: "the answer gets 202, and the call completes as its own session answered", Source: oldTransport + ", client/elicitation",
		Impact: "the call hangs after the user has answered, or another user answers for him", Fix: "route responses to the request that asked, by session and id", Timed: true, Run: pushed},
	{ID: "S-CANCEL", Name: "a cancelled call in a session", Over: "http", Era: "legacy", Effects: true, Severity: Warning, Category: "reliability",
		Sent: "notifications/cancelled while the tool of --slow runs", Want: "no result", Source: "revision 2025-11-25, basic/utilities/cancellation",
		Impact: "work goes on that the client has given up", Fix: "stop the work on notifications/cancelled", Timed: true, Run: cancelledInSession},
	{ID: "S-RESUME", Name: "the stream of another session", Over: "http", Era: "legacy", Severity: Critical, Category: "security",
		Sent: "GET in a second session while the first one is used, with and without the Last-Event-ID of an event of the first, and with a made-up one; GET with that of an event and without a session; GET in the first session with a made-up one", Want: "no message of the first, and no answer a second time", Source: oldTransport + ", resumability",
		Impact: "one client reads the messages of others", Fix: "send each message to its session alone, and look events up by session and id", Run: resumed},
}

func chosenSession(t *T) {
	const chosen = "sealab-chosen-session-0123456789abcdef"
	if _, ok := t.keeping(); !ok {
		return
	}
	var places []string
	for _, name := range []string{"sid", "session", "sessionId", "session_id", "mcp-session-id"} {
		places = append(places, name+"="+chosen)
	}
	for _, way := range []struct {
		name  string
		alter func(w *wire)
	}{
		{"a chosen id", func(w *wire) { w.set("Mcp-Session-Id", chosen) }},
		{"a chosen id in a cookie", func(w *wire) { w.set("Cookie", strings.Join(places, "; ")) }},
		{"a chosen id in the query", func(w *wire) {
			w.path = t.r.client.pathWith("sealab", "1") + "&" + strings.Join(places, "&")
		}},
		{"a chosen id in params", func(w *wire) { w.replace(`"params":{`, `"params":{"sessionId":"`+chosen+`",`) }},
	} {
		w := t.initialize(older)
		way.alter(w)
		a := t.send(w)
		if !a.conclusive() && a.Status == 0 {
			t.skip("initialize: %v", a)
			return
		}
		t.seen(variant{name: way.name}, a)
		if a.Kind != completed || a.Exchange.Header("Mcp-Session-Id") != chosen {
			continue
		}
		if b := t.inSession(session{id: chosen, version: versionOf(a)}, first, t.oldList()); b.Kind == completed {
			t.fault(way.name, Critical, "a session has the id that the client chose", a)
			return
		}
	}
}

// asking is a session with a call of a tool that asks, and its question.
type askingCall struct {
	session session
	call    []byte
	id      int
}

// toolCall is a call of a tool that asks, in a session of an older revision.
func (t *T) toolCall(f Flow) (askingCall, bool) {
	s, ok := t.opened()
	if !ok {
		return askingCall{}, false
	}
	c := t.r.client
	c.id++
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s,"arguments":%s}}`, c.id, quote(f.Target), f.Arguments)
	return askingCall{s, body, c.id}, true
}

// maxPushed is the number of tools of which a question is wanted in a session.
const maxPushed = 4

// likelyAsking are tools that are known to ask, or those that are named or whose texts
// say that they ask.
func (t *T) likelyAsking() []Flow {
	var all []Flow
	for _, o := range t.r.oracles {
		all = append(all, o.flow)
	}
	if len(all) == 0 {
		for _, g := range t.r.candidates()[:2] {
			all = append(all, g.flows...)
		}
	}
	all = slices.DeleteFunc(all, func(f Flow) bool { return f.Method != "tools/call" })
	if len(all) == 0 {
		t.skip("no tool that asks first is known; --tool names one")
	}
	return all[:min(len(all), maxPushed)]
}

// serverRequest is a request of the server in a stream.
func serverRequest(m []byte) (id json.RawMessage, ok bool) {
	var r struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	return r.ID, json.Unmarshal(m, &r) == nil && r.ID != nil && r.Method == "elicitation/create"
}

// post sends a request without the bookkeeping of the client, so that two can be
// under way.
func (t *T) post(ctx context.Context, s session, body []byte, done func([]byte) bool) *rawmcp.Exchange {
	headers := t.r.client.sessionHeaders(s, first)
	return t.r.client.http.Do(ctx, rawmcp.Request{Verb: "POST", Path: t.r.client.http.Path(), Headers: headers, Body: body, Done: done})
}

// openingTime is how long a stream may take to open before a call that may need it.
const openingTime = 2 * time.Second

// await waits until a stream is open or has ended. A server may send its header only
// with its first event, so that the wait is bounded.
func (t *T) await(opened, ended <-chan struct{}) {
	timer := time.NewTimer(openingTime)
	defer timer.Stop()
	select {
	case <-opened:
	case <-ended:
	case <-timer.C:
	case <-t.ctx.Done():
	}
}

// A reply answers the question with an id and returns the status of the response.
type reply func(x askingCall, id, content json.RawMessage) int

// respond posts the answer to a question in a session.
func (t *T) respond(s session, as user, id json.RawMessage, action string, content json.RawMessage) int {
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"action":%q,"content":%s}}`, id, action, content)
	if action != "accept" {
		body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"action":%q}}`, id, action)
	}
	return t.r.client.http.Do(t.ctx, rawmcp.Request{Verb: "POST", Path: t.r.client.http.Path(), Headers: t.r.client.sessionHeaders(s, as), Body: body}).Status
}

// asks makes a call of a tool and replies to its question. The status is that of the reply; 0
// if nothing was asked.
func (t *T) asks(f Flow, replies reply) (Answer, int, bool) {
	x, ok := t.toolCall(f)
	if !ok {
		return Answer{}, 0, false
	}
	var answered sync.Once
	var taken atomic.Int64 // the status of the response to the answer
	answer := func(m []byte) {
		id, ok := serverRequest(m)
		if !ok {
			return
		}
		answered.Do(func() {
			var q struct {
				Params struct {
					Schema json.RawMessage `json:"requestedSchema"`
				} `json:"params"`
			}
			_ = json.Unmarshal(m, &q) // a question without a form is accepted as it is
			taken.Store(int64(replies(x, id, samples(inline(q.Params.Schema), 0)[0])))
		})
	}
	ctx, cancel := context.WithCancel(t.ctx)
	opened, listening := make(chan struct{}), make(chan struct{})
	go func() { // a server may ask in the stream of the session
		defer close(listening)
		if x.session.id != "" {
			h := t.r.client.http
			h.Do(ctx, rawmcp.Request{Verb: "GET", Path: h.Path(), Headers: t.r.client.sessionHeaders(x.session, first), Opened: func() { close(opened) },
				Done: func(m []byte) bool { answer(m); return taken.Load() != 0 }})
		}
	}()
	t.await(opened, listening)
	e := t.post(t.ctx, x.session, x.call, func(m []byte) bool { answer(m); return isAnswer(x.id)(m) })
	cancel()
	<-listening
	t.r.client.kept(e)
	a := read(e, x.id)
	t.seen(variant{name: "a question"}, a)
	return a, int(taken.Load()), true
}

func pushed(t *T) {
	accept := func(x askingCall, id, content json.RawMessage) int {
		return t.respond(x.session, first, id, "accept", content)
	}
	for _, f := range t.likelyAsking() {
		a, status, ok := t.asks(f, accept)
		switch {
		case !ok:
			return
		case status == 0 && a.conclusive():
			t.skip("the tool does not ask in revision %s: %v", older, a)
			continue
		case status == 0:
			t.fault("a question", Warning, "a call of a tool that asks gets neither a question nor an answer", a)
		case !a.conclusive():
			t.fault("a question", Warning, fmt.Sprintf("a call does not end after its question was answered (status %d)", status), a)
		case status != 202:
			t.fault("a question", Suggestion, fmt.Sprintf("the answer to a question gets status %d instead of 202", status), a)
		default:
			t.answeredElsewhere(f, a)
		}
		t.reason = "" // of the tools before
		return
	}
}

// answeredElsewhere accepts a question in a session of the second user, and then declines it
// in its own. It refutes if the call ends as one that was accepted, twice.
func (t *T) answeredElsewhere(f Flow, good Answer) {
	if len(t.r.opts.Target.Second) == 0 {
		return
	}
	other, ok := t.open(older, second)
	no, _, also := t.asks(f, func(x askingCall, id, _ json.RawMessage) int {
		return t.respond(x.session, first, id, "decline", nil)
	})
	if !ok || !also || good.Kind != completed || blank(no.Text) == blank(good.Text) {
		return
	}
	var a Answer
	for range 2 {
		a, _, _ = t.asks(f, func(x askingCall, id, content json.RawMessage) int {
			t.respond(other, second, id, "accept", content)
			_ = SystemClock().Sleep(t.ctx, pause)
			return t.respond(x.session, first, id, "decline", nil)
		})
		if a.Kind != completed || blank(a.Text) != blank(good.Text) {
			return
		}
	}
	t.refute(Finding{Case: "an answer of another session", Severity: Critical, Issue: "a question to one user is answered by another in a session of his own",
		Evidence: fmt.Sprintf("%s: accepted in the second user's session, then declined in its own -> %v; declined alone -> %v", f, a, no), Want: "declined", Got: "accepted", Revision: older})
}

func cancelledInSession(t *T) {
	call, ok := t.slowCall()
	if !ok {
		return
	}
	s, ok := t.opened()
	if !ok {
		return
	}
	c := t.r.client
	start := func() (id int, ended chan Answer) {
		c.id++
		id, ended = c.id, make(chan Answer, 1)
		body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s,"arguments":%s}}`, id, quote(call.Target), call.Arguments)
		go func() { ended <- read(t.post(t.ctx, s, body, isAnswer(id)), id) }()
		return id, ended
	}
	began := time.Now()
	_, ended := start()
	if whole := <-ended; whole.Kind != completed {
		t.skip("control: a whole call: %v", whole)
		return
	}
	took := time.Since(began)
	began = time.Now()
	id, ended := start()
	if err := SystemClock().Sleep(t.ctx, took/4); err != nil {
		t.skip("%v", err)
		return
	}
	notified := t.post(t.ctx, s, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id), nil)
	told := time.Since(began)
	a := <-ended
	t.seen(variant{name: "cancelled"}, a)
	switch {
	case a.Kind != completed:
	case s.id == "" && notified.Status >= 400:
		t.skip("the server keeps no sessions and refuses the notification with status %d", notified.Status)
	case told > took/2:
		t.skip("the call was cancelled after %v, too late for one of %v", told, took)
	default:
		t.fault(call.Target, Warning, "a cancelled call completes", a)
	}
}
