package review

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sealab/internal/rawmcp"
)

// progressing is the check of the messages around one answer.
var progressing = []Check{
	{ID: "L-PROGRESS", Name: "the progress, the logs and the end of a call", Severity: Warning, Category: "transport",
		Sent: "a call of a tool that asks or reads only, of a prompt, of a resource and of a list, and of a good and a changed state, with a progressToken and the logLevel debug; a stream is read to its end", Want: "progress that rises, under the token of the request, and nothing after the answer; the stream ends with it; logs without states, keys and credentials",
		Source: "revision 2026-07-28, basic/patterns/progress, basic/transports/streamable-http", Impact: "a client takes the progress for that of another call, keeps a connection for each call that has ended, or reads secrets",
		Fix: "send progress under the token of its request alone, stop before the answer, close the stream after it, and log no secrets", Timed: true, Run: progress},
}

// progressToken is the token of the requests of the check.
const progressToken = "sealab-progress"

// leftOpen is how long a stream goes on after the answer of a call until it counts as left open.
const leftOpen = time.Second

// logged is the case of a finding about logs.
const logged = "logs"

// A called is a call with the messages that came until its end.
type called struct {
	name     string
	messages [][]byte
	answer   int  // the index of the answer; -1 if there is none
	open     bool // the stream went on for leftOpen
}

func progress(t *T) {
	keys := map[string]int{}
	for _, call := range slices.Concat(t.progressCalls(), t.stateCalls()) {
		name := strings.TrimSpace(call.Method + " " + call.Target)
		if call.State != nil {
			name += " with a state"
		}
		if t.only != "" && t.only != name && t.only != logged {
			continue
		}
		x, ok := t.inProgress(name, call)
		if !ok {
			return
		}
		t.trials++
		issue, label := x.issue(), name
		if told := t.loggedIn(x, call, keys); issue == "" && told != "" {
			issue, label = "a log or a progress tells "+told, logged
		}
		if issue != "" {
			t.refute(Finding{Case: label, Severity: Warning, Issue: name + ": " + issue, Evidence: x.evidence(), Want: "see the check", Got: issue})
			return
		}
	}
}

// progressCalls are one call each of a tool that asks or reads only, of a prompt, of a
// resource, and of a list.
func (t *T) progressCalls() []Call {
	var all []Call
	for _, f := range t.r.flows[:min(len(t.r.flows), 1)] {
		all = append(all, f.call(first))
	}
	for _, f := range t.wordy() {
		if f.Method == "tools/call" && len(all) == 0 {
			all = append(all, f.call(first))
		}
	}
	reads := t.r.reads()
	for _, method := range []string{"prompts/get", "resources/read"} {
		if i := slices.IndexFunc(reads, func(f Flow) bool { return f.Method == method }); i >= 0 {
			all = append(all, reads[i].call(first))
		}
	}
	return append(all, listCall)
}

// stateCalls are calls with the states of two flows, good and changed.
func (t *T) stateCalls() []Call {
	var all []Call
	for _, o := range t.r.oracles[:min(len(t.r.oracles), 2)] {
		token, question, err := t.r.client.mint(t.ctx, o.flow, o.user)
		if err != nil {
			continue
		}
		call := o.flow.call(o.user)
		call.Answers = t.r.client.rekeyed(o.flow.Last, question.Questions)
		for _, state := range []string{token + "sealab", token} {
			call.State = quote(state)
			all = append(all, call)
		}
	}
	return all
}

// keyInLog is a member of a log that has the length of a key.
var keyInLog = regexp.MustCompile(`"key"\s*:\s*"([A-Za-z0-9+/_-]{43}=?|[0-9a-f]{64})"`)

// loggedIn is what the notifications of a call tell that no client has a use for: secrets by
// their form, the state of the call, and a key that those of another call have as well.
func (t *T) loggedIn(x called, call Call, keys map[string]int) string {
	for _, m := range x.messages {
		if members(m)["method"] == nil {
			continue
		}
		name, value := secretSetting(m)
		switch state := strings.Trim(string(call.State), `"`); {
		case value != "":
			return name
		case t.r.opts.Target.repeatedIn(string(m)):
			return ofTheUser
		case len(state) >= minCoded && strings.Contains(string(m), state):
			return "the state"
		}
		for _, found := range keyInLog.FindAllSubmatch(m, -1) {
			// The digest of a call is another one in another call.
			if keys[string(found[1])]++; keys[string(found[1])] > 1 {
				return "a key"
			}
		}
	}
	return ""
}

// inProgress makes a call with a progressToken, and asks for all logs.
func (t *T) inProgress(name string, call Call) (called, bool) {
	c := t.r.client
	x := called{name: name, answer: -1}
	c.id++
	id := c.id
	call.Progress = true
	body, err := c.body(call, id)
	if err == nil {
		err = c.take(t.ctx)
	}
	if err != nil {
		t.skip("%v", err)
		return x, false
	}
	if c.http == nil {
		return x, t.lineInProgress(&x, body, id)
	}
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	http := *c.http
	http.Limits.Time = min(http.Limits.Time, t.r.opts.Hang)
	e := http.Do(ctx, rawmcp.Request{Verb: "POST", Path: http.Path(), Headers: c.callHeaders(t.ctx, call), Body: body, Done: func(m []byte) bool {
		if x.answer < 0 && isAnswer(id)(m) {
			x.answer = len(x.messages)
			time.AfterFunc(leftOpen, cancel)
		}
		x.messages = append(x.messages, m)
		return false
	}})
	c.kept(e)
	x.open = x.answer >= 0 && e.Err != nil && ctx.Err() != nil && t.ctx.Err() == nil
	return x, true
}

// lineInProgress sends a line to a process of its own, and one more behind it. It reports
// whether both were answered.
func (t *T) lineInProgress(x *called, body []byte, id int) bool {
	p := t.process()
	if p == nil {
		return false
	}
	defer p.Stop(stopGrace)
	c := t.r.client
	e := p.Do(t.ctx, body, isAnswer(id))
	c.kept(e)
	c.id++
	next, err := c.body(listCall, c.id)
	if err != nil || e.Err != nil {
		t.skip("%v", e.Err)
		return false
	}
	x.messages, x.answer = e.Messages, len(e.Messages)-1
	after := p.Do(t.ctx, next, isAnswer(c.id))
	if after.Err != nil {
		t.skip("%v", after.Err)
		return false
	}
	x.messages = append(slices.Clone(x.messages), after.Messages[:len(after.Messages)-1]...)
	return true
}

// issue is the fault of the messages; "" if there is none.
func (x called) issue() string {
	last := -1.0
	for i, m := range x.messages {
		all := members(m)
		var method, token string
		var value float64
		params := members(all["params"])
		_ = json.Unmarshal(all["method"], &method) // a response has none
		_ = json.Unmarshal(params["progressToken"], &token)
		after := x.answer >= 0 && i > x.answer
		switch {
		case after && (method == "notifications/progress" && token == progressToken):
			return "progress after the answer"
		case after && (all["result"] != nil || all["error"] != nil):
			return "a second answer"
		case method != "notifications/progress" || after:
			continue
		case token != progressToken:
			return "progress under the token " + short(string(params["progressToken"]), 40)
		case json.Unmarshal(params["progress"], &value) != nil:
			return "progress without a number"
		case value <= last:
			return fmt.Sprintf("progress %v after %v", value, last)
		}
		last = value
	}
	if x.open {
		return fmt.Sprintf("the stream stays open for %v after the answer", leftOpen)
	}
	return ""
}

func (x called) evidence() string {
	var b strings.Builder
	for i, m := range x.messages {
		fmt.Fprintf(&b, "%d: %s\n", i, short(string(m), 200))
	}
	return b.String()
}
