package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// sessionStreamChecks are the checks of questions, cancellation and lost streams in sessions.
var sessionStreamChecks = []review.Check{
	{
		ID: "S-FIX", Name: "a session id chosen by the client", Over: "http", Era: "legacy", Severity: review.Critical, Category: "security",
		Sent: "initialize with a made-up id in Mcp-Session-Id, in cookies, in the query and in params, then " +
			"tools/list with this id",
		Want:   "answers an error, or issues another id",
		Source: oldTransportSpec + ", security best practices (CWE-384)",
		Impact: "an attacker makes a victim use an id that the attacker chose, and then uses the victim's session",
		Fix:    "generate ids on the server, and ignore an id in initialize",
		Run:    checkChosenSession,
	},
	{
		ID: "S-PUSH", Name: "the answer to a question in a session", Over: "http", Era: "legacy", Effects: true, Severity: review.Critical, Category: "reliability",
		Sent: "a call of a tool that asks, whose question is accepted by a POST; with --second a call whose " +
			"question is accepted in a session of the second user and then declined in its own session",
		Want:   "answers the POST with status 202, and completes the call with the answer from its own session",
		Source: oldTransportSpec + ", client/elicitation",
		Impact: "the call hangs after the user has answered, or another user answers the question",
		Fix:    "match a response to its request by session and id",
		Timed:  true, Run: checkSessionQuestion,
	},
	{
		ID: "S-CANCEL", Name: "a canceled call that completes in a session", Over: "http", Era: "legacy", Effects: true, Severity: review.Warning, Category: "reliability",
		Sent:   "in a session, notifications/cancelled while the tool named by --slow runs",
		Want:   "sends no result",
		Source: "revision 2025-11-25, basic/utilities/cancellation",
		Impact: "the server works on a call that the client has canceled",
		Fix:    "stop the work on notifications/cancelled",
		Timed:  true, Run: checkSessionCancel,
	},
	{
		ID: "S-RESUME", Name: "a stream with messages of another session", Over: "http", Era: "legacy", Severity: review.Critical, Category: "security",
		Sent: "GET in a second session while the first session is used; GET in another session with the " +
			"Last-Event-ID of an event of the first, and with a made-up one; GET without a session, with that " +
			"Last-Event-ID; GET in the first session with a made-up one; events are those of lists, or of calls if " +
			"lists have none",
		Want:   "sends no message of the first session to another one, and repeats no answer for an unknown event",
		Source: oldTransportSpec + ", resumability",
		Impact: "one client reads the messages of others",
		Fix:    "send each message only to its own session, and look up events by session and id",
		Run:    checkResumption,
	},
}

func checkChosenSession(t *review.T) {
	const chosen = "sealab-chosen-session-0123456789abcdef"
	if _, ok := openSessionWithID(t); !ok {
		return
	}
	var places []string
	for _, name := range []string{"sid", "session", "sessionId", "session_id", "mcp-session-id"} {
		places = append(places, name+"="+chosen)
	}
	for _, way := range []struct {
		name  string
		alter func(w *client.Request)
	}{
		{"a chosen id", client.WithHeader("Mcp-Session-Id", chosen)},
		{"a chosen id in a cookie", client.WithHeader("Cookie", strings.Join(places, "; "))},
		{"a chosen id in the query", func(w *client.Request) {
			w.Path = t.Client.PathWith("sealab", "1") + "&" + strings.Join(places, "&")
		}},
		{"a chosen id in params", client.Replacing(`"params":{`, `"params":{"sessionId":"`+chosen+`",`)},
	} {
		w := t.InitializeRequest(client.Older)
		way.alter(w)
		a := t.Send(w)
		if !a.Conclusive() && a.Status == 0 {
			t.Skip("initialize: %v", a)
			return
		}
		t.Trials++
		if a.Kind != client.Completed || a.Exchange.Header("Mcp-Session-Id") != chosen {
			continue
		}
		if b := inSession(t, client.Session{ID: chosen, Version: client.VersionOf(a)}, client.FirstUser, t.Client.ListBody()); b.Kind == client.Completed {
			t.Fault(way.name, review.Critical, "a session has the id that the client chose", a)
			return
		}
	}
}

// An askingCall is a call of a tool that asks, in a session.
type askingCall struct {
	session client.Session
	call    []byte
	id      int
}

// newAskingCall returns a call of a tool that asks, in a new session of an older revision.
func newAskingCall(t *review.T, f client.Flow) (askingCall, bool) {
	s, ok := openLiveSession(t)
	if !ok {
		return askingCall{}, false
	}
	return askingCallIn(t, s, f), true
}

// askingCallIn returns a call of a tool that asks in a session.
func askingCallIn(t *review.T, s client.Session, f client.Flow) askingCall {
	body := requestOf(t, f.Call(client.FirstUser))
	return askingCall{s, []byte(body), t.Client.ID}
}

// maxAskingTools is the number of tools that are expected to ask in a session.
const maxAskingTools = 4

// likelyAsking returns tools that are known to ask. If there are none, it returns tools that the
// user names or whose texts say that they ask. It skips the check if there are none either.
func likelyAsking(t *review.T) []client.Flow {
	var all []client.Flow
	for _, o := range t.Oracles {
		all = append(all, o.Flow)
	}
	if len(all) == 0 {
		for _, g := range t.Candidates()[:2] {
			all = append(all, g.Flows...)
		}
	}
	all = slices.DeleteFunc(all, func(f client.Flow) bool { return f.Method != "tools/call" })
	if len(all) == 0 {
		t.Skip("no tool that asks first is known; --tool names one")
	}
	return all[:min(len(all), maxAskingTools)]
}

// serverRequest returns the ID of a question that the server sends in a stream.
func serverRequest(m []byte) (id json.RawMessage, ok bool) {
	var r struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	return r.ID, json.Unmarshal(m, &r) == nil && r.ID != nil && r.Method == "elicitation/create"
}

// postInSession sends a request without the bookkeeping of the client, so that two can run at the
// same time.
func postInSession(t *review.T, ctx context.Context, s client.Session, body []byte, done func([]byte) bool) *rawmcp.Exchange {
	headers := t.Client.SessionHeaders(s, client.FirstUser)
	return t.Client.HTTP.Do(ctx, rawmcp.Request{Verb: "POST", Path: t.Client.HTTP.Path(), Headers: headers, Body: body, Done: done})
}

// openingTime is how long a stream may take to open before a call that may need it.
const openingTime = 2 * time.Second

// awaitStream waits until a stream is open or has ended. The wait is limited, because a server may
// send its header only with its first event.
func awaitStream(t *review.T, opened, ended <-chan struct{}) {
	timer := time.NewTimer(openingTime)
	defer timer.Stop()
	select {
	case <-opened:
	case <-ended:
	case <-timer.C:
	case <-t.Context.Done():
	}
}

// A reply answers the question with an ID and returns the HTTP status of that request.
type reply func(x askingCall, id, content json.RawMessage) int

// respond posts the answer to a question in a session and returns the status.
func respond(t *review.T, s client.Session, as client.User, id json.RawMessage, action string, content json.RawMessage) int {
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"action":%q,"content":%s}}`, id, action, content)
	if action != "accept" {
		body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"action":%q}}`, id, action)
	}
	return t.Client.HTTP.Do(t.Context, rawmcp.Request{Verb: "POST", Path: t.Client.HTTP.Path(), Headers: t.Client.SessionHeaders(s, as), Body: body}).Status
}

// callAndAnswer calls a tool and replies to its questions. It returns the status of the reply, the
// one that is not 202 if there is one, or 0 if there was no question.
func callAndAnswer(t *review.T, f client.Flow, replies reply) (client.Answer, int, bool) {
	x, ok := newAskingCall(t, f)
	if !ok {
		return client.Answer{}, 0, false
	}
	a, status := callAndReply(t, x, replies)
	return a, status, true
}

// maxQuestions is the number of questions of one call that get a reply.
const maxQuestions = 8

// callAndReply makes a call and replies to its questions, as callAndAnswer does.
func callAndReply(t *review.T, x askingCall, replies reply) (client.Answer, int) {
	var mu sync.Mutex
	asked := map[string]bool{} // by ID
	status := 0
	answer := func(m []byte) {
		id, ok := serverRequest(m)
		mu.Lock()
		defer mu.Unlock()
		if !ok || asked[string(id)] || len(asked) == maxQuestions {
			return
		}
		asked[string(id)] = true
		var q client.Question
		_ = json.Unmarshal(m, &q) // accept a question without a form as it is
		if got := replies(x, id, jsondoc.Samples(q.Form(), 0)[0]); status == 0 || got != 202 {
			status = got
		}
	}
	ctx, cancel := context.WithCancel(t.Context)
	opened, listening := make(chan struct{}), make(chan struct{})
	go func() { // a server may ask in the stream of the session
		defer close(listening)
		if x.session.ID != "" {
			h := t.Client.HTTP
			h.Do(ctx, rawmcp.Request{Verb: "GET", Path: h.Path(), Headers: t.Client.SessionHeaders(x.session, client.FirstUser), Opened: func() { close(opened) },
				Done: func(m []byte) bool { answer(m); return false }})
		}
	}()
	awaitStream(t, opened, listening)
	e := postInSession(t, t.Context, x.session, x.call, func(m []byte) bool { answer(m); return client.IsAnswer(x.id)(m) })
	cancel()
	<-listening
	t.Client.Keep(e)
	a := client.ReadAnswer(e, x.id)
	t.Trials++
	return a, status
}

func checkSessionQuestion(t *review.T) {
	accept := func(x askingCall, id, content json.RawMessage) int {
		return respond(t, x.session, client.FirstUser, id, "accept", content)
	}
	for _, f := range likelyAsking(t) {
		a, status, ok := callAndAnswer(t, f, accept)
		switch {
		case !ok:
			return
		case status == 0 && a.Conclusive():
			t.Skip("the tool does not ask in revision %s: %v", client.Older, a)
			continue
		case status == 0:
			t.Fault("a question", review.Warning, "a call of a tool that asks gets neither a question nor an answer", a)
		case !a.Conclusive():
			t.Fault("a question", review.Warning, fmt.Sprintf("a call does not end after its question was answered (status %d)", status), a)
		case status != 202:
			t.Fault("a question", review.Suggestion, fmt.Sprintf("the answer to a question gets status %d instead of 202", status), a)
		default:
			answerFromOtherSession(t, f, a)
		}
		t.Reason = "" // drop the reasons of earlier tools
		return
	}
}

// answerFromOtherSession accepts a question in a session of the second user and then declines it in
// its own session. It records a finding if the call ends like an accepted one, twice.
func answerFromOtherSession(t *review.T, f client.Flow, good client.Answer) {
	if len(t.Options.Target.Second) == 0 {
		return
	}
	other, ok := openSession(t, client.Older, client.SecondUser)
	no, _, also := callAndAnswer(t, f, func(x askingCall, id, _ json.RawMessage) int {
		return respond(t, x.session, client.FirstUser, id, "decline", nil)
	})
	if !ok || !also || good.Kind != client.Completed || no.SameWords(good) {
		return
	}
	var a client.Answer
	for range 2 {
		a, _, _ = callAndAnswer(t, f, func(x askingCall, id, content json.RawMessage) int {
			respond(t, other, client.SecondUser, id, "accept", content)
			_ = client.SystemClock().Sleep(t.Context, answerPause)
			return respond(t, x.session, client.FirstUser, id, "decline", nil)
		})
		if a.Kind != client.Completed || !a.SameWords(good) {
			return
		}
	}
	t.Refute(review.Finding{Case: "an answer of another session", Severity: review.Critical, Issue: "a question to one user is answered by another in a session of his own",
		Evidence: fmt.Sprintf("%s: accepted in the second user's session, then declined in its own -> %v; declined alone -> %v", f, a, no), Want: "declined", Got: "accepted"})
}

// answerPause is the time that a server has for an answer before the next one arrives.
const answerPause = 50 * time.Millisecond

func checkSessionCancel(t *review.T) {
	call, ok := t.SlowCall()
	if !ok {
		return
	}
	s, ok := openLiveSession(t)
	if !ok {
		return
	}
	start := func() (id int, ended chan client.Answer) {
		body := []byte(requestOf(t, call))
		id, ended = t.Client.ID, make(chan client.Answer, 1)
		go func() { ended <- client.ReadAnswer(postInSession(t, t.Context, s, body, client.IsAnswer(id)), id) }()
		return id, ended
	}
	began := time.Now()
	_, ended := start()
	if whole := <-ended; whole.Kind != client.Completed {
		t.Skip("control: a whole call: %v", whole)
		return
	}
	took := time.Since(began)
	began = time.Now()
	id, ended := start()
	if t.SkipOn(client.SystemClock().Sleep(t.Context, took/4)) {
		return
	}
	notified := postInSession(t, t.Context, s, client.CancelNotice(id), nil)
	told := time.Since(began)
	a := <-ended
	t.Trials++
	switch {
	case a.Kind != client.Completed:
	case s.ID == "" && notified.Status >= 400:
		t.Skip("the server keeps no sessions and refuses the notification with status %d", notified.Status)
	case told > took/2:
		t.Skip("the call was canceled after %v, too late for one of %v", told, took)
	default:
		t.Fault(call.Target, review.Warning, "a canceled call completes", a)
	}
}
