package sessions

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
	"sealab/internal/rawmcp"
)

var eventID = regexp.MustCompile(`(?m)^id: ?(\S+)\r?$`)

func checkResumption(t *review.T) {
	if _, ok := openSessionWithID(t); !ok {
		return
	}
	if listenFromOtherSession(t); len(t.Findings) > 0 {
		return
	}
	if resumeAnswers(t); len(t.Findings) > 0 {
		return
	}
	asking := likelyAsking(t)
	t.Reason = "" // the first part of the check has run
	if len(asking) == 0 {
		return
	}
	x, ok := newAskingCall(t, asking[0])
	if !ok {
		return
	}
	var question []byte
	e := postInSession(t, t.Context, x.session, x.call, func(m []byte) bool {
		if client.IsQuestion(m) {
			question = m
		}
		return question != nil || client.IsAnswer(x.id)(m)
	})
	t.Client.Keep(e)
	if found := eventID.FindSubmatch(e.Received); question != nil && found != nil {
		resumeInNewSession(t, string(found[1]), client.IsQuestion, otherSession)
	}
}

// listenFromOtherSession opens the stream of one session and makes calls with a new word in
// another. It records a finding if the word appears in the stream.
func listenFromOtherSession(t *review.T) {
	own, ok := openLiveSession(t)
	as := client.FirstUser
	if len(t.Options.Target.Second) > 0 {
		as = client.SecondUser
	}
	other, also := openSession(t, client.Older, as)
	if !ok || !also {
		return
	}
	word := t.Word()
	told := func(m []byte) bool {
		return bytes.Contains(m, []byte(word)) || own.ID != "" && bytes.Contains(m, []byte(own.ID))
	}
	ctx, cancel := context.WithCancel(t.Context)
	defer cancel()
	opened, ended := make(chan struct{}), make(chan struct{})
	var heard *rawmcp.Exchange
	http := *t.Client.HTTP
	http.Limits.Time = min(http.Limits.Time, openingTime+client.ListenFor, t.Options.Hang)
	go func() {
		defer close(ended)
		w := &client.Request{Headers: t.Client.SessionHeaders(other, as)}
		w.Drop("Content-Type")
		heard = http.Do(ctx, rawmcp.Request{Verb: "GET", Path: http.Path(), Headers: w.Headers, Opened: func() { close(opened) },
			Done: told})
	}()
	awaitStream(t, opened, ended)
	select {
	case <-ended:
		if !slices.ContainsFunc(heard.Messages, told) {
			return // there is no stream
		}
	default:
	}
	unknown := client.UnknownCall
	unknown.Arguments = jsondoc.Object(jsondoc.Arguments{"text": jsondoc.Quote(word)})
	for _, body := range []string{
		client.InitializedNotice,
		requestOf(t, unknown),
		fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%q,"reason":%q}}`, "sealab-none", word),
	} {
		inSession(t, own, client.FirstUser, body)
	}
	for _, f := range t.Wordy() {
		if f.Method == "prompts/get" || t.Options.Effects {
			inSession(t, own, client.FirstUser, requestOf(t, f.With(f.ArgumentsWith(word)).Call(client.FirstUser)))
			break
		}
	}
	timer := time.AfterFunc(client.ListenFor, cancel)
	defer timer.Stop()
	<-ended
	t.Trials++
	if i := slices.IndexFunc(heard.Messages, told); i >= 0 {
		t.Refute(review.Finding{Case: "the stream of another session", Severity: review.Critical,
			Issue:    "the stream of a session gives messages about the calls of another one",
			Evidence: client.Short(string(heard.Messages[i]), 300), Want: "no message", Got: "a message"})
	}
}

// resumeAnswers asks for the events after an answer in another session: after that to a list and, if it
// has no ID, after the first answer that comes in an event with an ID. A server may send only some
// answers in streams.
func resumeAnswers(t *review.T) {
	if resumed := resumeAfter(t, t.Client.ListBody, "0"); resumed || len(t.Findings) > 0 { // a server may count events that it sends without an ID
		return
	}
	for _, call := range streamedCalls(t) {
		if resumeAfter(t, func() string { return requestOf(t, call) }, "") {
			return
		}
	}
}

// streamedCalls returns calls whose answers may come in a stream: of a tool that does not exist, of tools
// that read, and of a prompt and a resource.
func streamedCalls(t *review.T) []client.Call {
	all := []client.Call{client.UnknownCall}
	readers, seen := t.Readers(), map[string]bool{}
	for _, tool := range readers[:min(len(readers), review.MaxTestedCalls)] {
		if !t.Asks(tool) {
			all = append(all, t.FlowOf(tool).Call(client.FirstUser))
		}
	}
	for _, f := range t.Reads() {
		if !seen[f.Method] {
			all = append(all, f.Call(client.FirstUser))
		}
		seen[f.Method] = true
	}
	return all
}

// resumeAfter makes a request twice in one session, and asks for the events behind the first answer in
// others. Without an ID of that answer it asks for those behind the event unnamed, or if that is "" for
// none. It reports whether the answer had an ID.
func resumeAfter(t *review.T, request func() string, unnamed string) bool {
	s, ok := openLiveSession(t)
	if !ok {
		return false
	}
	var events []string
	var answers [][]byte
	for range 2 {
		a := inSession(t, s, client.FirstUser, request())
		if a.Kind != client.Completed && a.Kind != client.Failed && a.Kind != client.ToolError {
			return false
		}
		if found := eventID.FindSubmatch(a.Exchange.Received); found != nil {
			events = append(events, string(found[1]))
		}
		answers = append(answers, a.LastMessage())
	}
	answered := func(m []byte) bool {
		return slices.ContainsFunc(answers, func(own []byte) bool { return bytes.Equal(m, own) })
	}
	event, known := unnamed, otherSession
	if len(events) > 0 {
		event = events[0]
	}
	if event == "" {
		return false
	}
	if len(events) == 2 && tokens.VaryingBits(events) >= minSessionBits {
		known.Severity, known.Issue = review.Warning, known.Issue+" to everyone who knows the random ID of an event"
	}
	resumeInNewSession(t, madeUpEvent, answered, otherSession)
	resumeStream(t, client.Session{Version: s.Version}, event, answered, review.Finding{
		Case: "Last-Event-ID without a session", Severity: review.Critical, Issue: "a stream without a session gives the messages of one"})
	resumeInNewSession(t, event, answered, known) // maybe a warning, behind which no critical finding is looked for
	resumeStream(t, s, madeUpEvent, answered, review.Finding{Case: "a made-up Last-Event-ID", Severity: review.Warning, Issue: "a stream behind an unknown event gives answers that were given before"})
	return len(events) > 0
}

// madeUpEvent is the ID of an event that does not exist.
const madeUpEvent = "sealab-no-such-event"

// otherSession is the finding about a stream that gives the messages of another session.
var otherSession = review.Finding{Case: "Last-Event-ID", Severity: review.Critical, Issue: "a stream gives the messages of another session"}

// resumeInNewSession opens the stream of a new session after an event of another one. It records f
// if the stream gives a message of that session.
func resumeInNewSession(t *review.T, event string, other func(message []byte) bool, f review.Finding) {
	s, ok := openLiveSession(t)
	if !ok {
		return
	}
	resumeStream(t, s, event, other, f)
}

// resumeStream opens the stream of a session after an event. It records a finding if the stream
// gives a matching message.
func resumeStream(t *review.T, s client.Session, event string, message func([]byte) bool, f review.Finding) {
	if len(t.Findings) > 0 {
		return
	}
	headers := append(t.Client.SessionHeaders(s, client.FirstUser), rawmcp.Header{Name: "Last-Event-ID", Value: event})
	http := *t.Client.HTTP
	http.Limits.Time = min(http.Limits.Time, openingTime+client.ListenFor, t.Options.Hang)
	ctx, cancel := context.WithCancel(t.Context)
	defer cancel()
	again := http.Do(ctx, rawmcp.Request{Verb: "GET", Path: http.Path(), Headers: headers, Done: message,
		Opened: func() { time.AfterFunc(client.ListenFor, cancel) }})
	t.Trials++
	if i := slices.IndexFunc(again.Messages, message); i >= 0 {
		f.Evidence, f.Want, f.Got = fmt.Sprintf("Last-Event-ID %s -> %s", event, client.Short(string(again.Messages[i]), 200)), "no message", "a message"
		t.Refute(f)
	}
}
