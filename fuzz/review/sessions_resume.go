package review

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sealab/internal/rawmcp"
)

var eventID = regexp.MustCompile(`(?m)^id: ?(\S+)\r?$`)

func resumed(t *T) {
	if _, ok := t.keeping(); !ok {
		return
	}
	if t.overhears(); len(t.findings) > 0 {
		return
	}
	if t.resumedAnswers(); len(t.findings) > 0 {
		return
	}
	asking := t.likelyAsking()
	t.reason = "" // the answers of lists were asked for
	if len(asking) == 0 {
		return
	}
	x, ok := t.toolCall(asking[0])
	if !ok {
		return
	}
	var question []byte
	e := t.post(t.ctx, x.session, x.call, func(m []byte) bool {
		if isQuestion(m) {
			question = m
		}
		return question != nil || isAnswer(x.id)(m)
	})
	t.r.client.kept(e)
	found := eventID.FindSubmatch(e.Received)
	if question != nil && found != nil {
		t.after(string(found[1]), isQuestion)
	}
}

// overhears opens the stream of one session and makes calls with a new word in another one.
// It refutes if the word stands in the stream.
func (t *T) overhears() {
	own, ok := t.opened()
	as := first
	if len(t.r.opts.Target.Second) > 0 {
		as = second
	}
	other, also := t.open(older, as)
	if !ok || !also {
		return
	}
	word := t.word()
	told := func(m []byte) bool {
		return bytes.Contains(m, []byte(word)) || own.id != "" && bytes.Contains(m, []byte(own.id))
	}
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	opened, ended := make(chan struct{}), make(chan struct{})
	var heard *rawmcp.Exchange
	http := *t.r.client.http
	http.Limits.Time = min(http.Limits.Time, openingTime+listening, t.r.opts.Hang)
	go func() {
		defer close(ended)
		w := &wire{headers: t.r.client.sessionHeaders(other, as)}
		w.drop("Content-Type")
		heard = http.Do(ctx, rawmcp.Request{Verb: "GET", Path: http.Path(), Headers: w.headers, Opened: func() { close(opened) },
			Done: told})
	}()
	t.await(opened, ended)
	select {
	case <-ended:
		if !slices.ContainsFunc(heard.Messages, told) {
			return // no stream
		}
	default:
	}
	arguments := object(map[string]json.RawMessage{"text": quote(word)})
	for _, body := range []string{
		initialized,
		strings.Replace(t.unknownToolCall(), `"arguments":{}`, `"arguments":`+string(arguments), 1),
		fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%q,"reason":%q}}`, "sealab-none", word),
	} {
		t.inSession(own, first, body)
	}
	for _, f := range t.wordy() {
		if f.Method == "prompts/get" || t.r.opts.Effects {
			t.r.client.id++
			call := f.with(withText(f.Arguments, f.offer.input(), word))
			t.inSession(own, first, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"name":%s,"arguments":%s}}`, t.r.client.id, call.Method, quote(call.Target), call.Arguments))
			break
		}
	}
	timer := time.AfterFunc(listening, cancel)
	defer timer.Stop()
	<-ended
	t.trials++
	if i := slices.IndexFunc(heard.Messages, told); i >= 0 {
		t.refute(Finding{Case: "the stream of another session", Severity: Critical, Issue: "the stream of a session gives messages about the calls of another one", Evidence: short(string(heard.Messages[i]), 300), Want: "no message", Got: "a message", Revision: older})
	}
}

// listening is how long a stream is read for messages that belong to other sessions.
const listening = 500 * time.Millisecond

// resumedAnswers asks for the events after an answer of another session.
func (t *T) resumedAnswers() {
	s, ok := t.opened()
	if !ok {
		return
	}
	var event string
	var answers [][]byte
	for range 2 {
		a := t.inSession(s, first, t.oldList())
		if a.Kind != completed {
			return
		}
		if found := eventID.FindSubmatch(a.Exchange.Received); found != nil {
			event = cmp.Or(event, string(found[1]))
		}
		answers = append(answers, a.Exchange.Messages[len(a.Exchange.Messages)-1])
	}
	answered := func(m []byte) bool {
		return slices.ContainsFunc(answers, func(own []byte) bool { return bytes.Equal(m, own) })
	}
	event = cmp.Or(event, "0") // a server may count events that it does not number
	t.after(event, answered)
	t.after(madeUpEvent, answered)
	t.resume(session{version: s.version}, event, answered, Finding{Case: "Last-Event-ID without a session", Severity: Critical, Issue: "a stream without a session gives the messages of one"})
	t.resume(s, madeUpEvent, answered, Finding{Case: "a made-up Last-Event-ID", Severity: Warning, Issue: "a stream behind an unknown event gives answers that were given before"})
}

// madeUpEvent is the id of an event that no server has sent.
const madeUpEvent = "sealab-no-such-event"

// after opens the stream of a new session behind an event of another one. It refutes if a
// message belongs to that one.
func (t *T) after(event string, other func(message []byte) bool) {
	s, ok := t.opened()
	if !ok {
		return
	}
	t.resume(s, event, other, Finding{Case: "Last-Event-ID", Severity: Critical, Issue: "a stream gives the messages of another session"})
}

// resume opens the stream of a session behind an event, and refutes if it gives a message.
func (t *T) resume(s session, event string, message func([]byte) bool, f Finding) {
	if len(t.findings) > 0 {
		return
	}
	headers := append(t.r.client.sessionHeaders(s, first), rawmcp.Header{Name: "Last-Event-ID", Value: event})
	http := *t.r.client.http
	http.Limits.Time = min(http.Limits.Time, 2*time.Second, t.r.opts.Hang)
	again := http.Do(t.ctx, rawmcp.Request{Verb: "GET", Path: http.Path(), Headers: headers, Done: message})
	t.trials++
	if i := slices.IndexFunc(again.Messages, message); i >= 0 {
		f.Evidence, f.Want, f.Got, f.Revision = fmt.Sprintf("Last-Event-ID %s -> %s", event, short(string(again.Messages[i]), 200)), "no message", "a message", older
		t.refute(f)
	}
}
