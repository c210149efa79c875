// Package progress has the check of the progress, the logs and the end of a call.
package progress

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
	"sealab/internal/rawmcp"
)

// Checks returns the check.
func Checks() []review.Check { return progressChecks }

// progressChecks is the check of the messages around one answer.
var progressChecks = []review.Check{
	{
		ID: "L-PROGRESS", Name: "the progress, the logs and the end of a call", Severity: review.Critical, Category: "transport",
		Sent: "a call of a tool that asks, with --effects of read-only tools, of a prompt, of a resource, of the tool " +
			"that --slow names and of a list, once with a progressToken that is a string and logLevel debug, and once with a number and " +
			"logLevel error; good and altered tokens with the first of these; each stream is read to its end; over HTTP " +
			"a call that sends progress, as two clients at the same time, under two progressTokens and under one",
		Want: "sends increasing progress under the progressToken of the request, only of its own call, and no " +
			"message of the call after its answer; ends the event of the answer and closes the stream; sends no log below the requested " +
			"level; reveals no state, key or credential",
		Source: "revision 2026-07-28, basic/patterns/progress, basic/transports/streamable-http",
		Impact: "a client assigns progress to another call, reads that of another user, keeps a connection open for " +
			"each call, or reads secrets",
		Fix: "send progress only in the stream and under the token of its request, stop before the answer, close the " +
			"stream after it, and log no secrets",
		Timed: true, Run: checkProgress,
	},
}

// progressTokens are the progress tokens of the check, as JSON.
var progressTokens = [2]string{`"sealab-progress"`, "7305829146"}

// logLevels are the levels of logs, the lowest first.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// openStreamTime is the time after the answer at which an open stream counts as left open.
const openStreamTime = time.Second

// logCase is the case of a finding about logs.
const logCase = "logs"

// A trackedCall is a call with the messages until its end.
type trackedCall struct {
	name     string
	token    string // the progress token, as JSON
	level    string // the level of the logs
	messages [][]byte
	answer   int  // the index of the answer; -1 if there is none
	open     bool // the stream went on for openStreamTime
	unended  bool // the answer came, but its event did not end
	lost     bool // no answer came
}

func checkProgress(t *review.T) {
	keys := map[string]int{}
	var long []client.Call // with progress
	for _, call := range slices.Concat(progressCalls(t), stateCalls(t)) {
		name := strings.TrimSpace(call.Method + " " + call.Target)
		if call.State != nil {
			name += " with a state"
		}
		if !t.Selected(name, logCase, sharedCase+call.Target) {
			continue
		}
		for i, level := range []string{"debug", "error"} {
			call.Progress, call.Level = progressTokens[i], level
			x, ok := trackCall(t, name, call)
			if !ok || lacksAnswer(t, x, call) || hasMessageFault(t, x, call, keys) {
				return
			}
			if call.State != nil {
				break
			}
			if i == 0 && len(x.progress()) >= minProgress {
				long = append(long, call)
			}
		}
	}
	for _, call := range long {
		if t.Client.HTTP != nil && len(t.Findings) == 0 {
			sharesProgress(t, call)
		}
	}
}

// lacksAnswer reports whether a call with a progressToken got no answer, although one without it
// does.
func lacksAnswer(t *review.T, x trackedCall, call client.Call) bool {
	if call.Progress, call.Level = "", ""; !x.lost || call.State != nil || !t.Call(call).Conclusive() {
		return false
	}
	t.Trials++
	t.Refute(review.Finding{Case: x.name, Severity: review.Warning,
		Issue:    x.name + ": no answer with the progressToken " + x.token + ", and one without it",
		Evidence: x.evidence(), Want: "answered", Got: string(client.Broken)})
	return true
}

// hasMessageFault reports whether it found a fault in the messages of a call.
func hasMessageFault(t *review.T, x trackedCall, call client.Call, keys map[string]int) bool {
	t.Trials++
	severity, issue, label := review.Warning, x.issue(), x.name
	if told := secretInNotifications(t, x, call, keys); issue == "" && told != "" {
		issue, label = "a log message or a progress notification reveals "+told, logCase
	}
	if low := x.belowLevel(); issue == "" && low != "" && t.Client.Older == "" {
		severity, issue = review.Suggestion, "a log of the level "+client.Short(low, 20)+", although "+x.level+" was asked for"
	}
	if issue != "" {
		t.Refute(review.Finding{Case: label, Severity: severity, Issue: x.name + ": " + issue, Evidence: x.evidence(), Want: "see the check", Got: issue})
	}
	return issue != ""
}

// belowLevel returns the level of the first log below the requested level, or "".
func (x trackedCall) belowLevel() string {
	for _, m := range x.messages {
		var log struct {
			Method string
			Params struct{ Level string }
		}
		if json.Unmarshal(m, &log) != nil || log.Method != "notifications/message" {
			continue
		}
		if i := slices.Index(logLevels, log.Params.Level); i >= 0 && i < slices.Index(logLevels, x.level) {
			return log.Params.Level
		}
	}
	return ""
}

// maxReadOnlyTools is the number of read-only tools that are called with effects.
const maxReadOnlyTools = 2

// progressCalls returns a call of a tool that asks, of read-only tools, of a prompt, of a resource,
// of the slow tool, and of a list.
func progressCalls(t *review.T) []client.Call {
	var all []client.Call
	for _, f := range t.Flows[:min(len(t.Flows), 1)] {
		all = append(all, f.Call(client.FirstUser))
	}
	for _, tool := range t.Readers() {
		if len(all) <= maxReadOnlyTools {
			all = append(all, t.FlowOf(tool).Call(client.FirstUser))
		}
	}
	reads := t.Reads()
	for _, method := range []string{"prompts/get", "resources/read"} {
		if i := slices.IndexFunc(reads, func(f client.Flow) bool { return f.Method == method }); i >= 0 {
			all = append(all, reads[i].Call(client.FirstUser))
		}
	}
	if t.Options.Slow != "" {
		if slow, ok := t.SlowCall(); ok {
			all = append(all, slow)
		}
	}
	return append(all, t.Client.Listing)
}

// stateCalls returns calls with good and changed states of two flows.
func stateCalls(t *review.T) []client.Call {
	var all []client.Call
	for _, o := range t.Oracles[:min(len(t.Oracles), 2)] {
		token, _, err := t.Client.Mint(t.Context, o.Flow, o.User)
		if err != nil {
			continue
		}
		for _, state := range []string{token + "sealab", token} {
			all = append(all, t.Client.Presenting(o.Flow, jsondoc.Quote(state), o.User))
		}
	}
	return all
}

// loggedKey matches a member named key with a value of the length of a key.
var loggedKey = regexp.MustCompile(`"key"\s*:\s*"([A-Za-z0-9+/_-]{43}=?|[0-9a-f]{64})"`)

// secretInNotifications returns the private data in the notifications of a call, or "". It looks
// for values in the form of secrets and for the state of the call. It also looks for a key that
// recurs in another call.
func secretInNotifications(t *review.T, x trackedCall, call client.Call, keys map[string]int) string {
	for _, m := range x.messages {
		if jsondoc.Members(m)["method"] == nil {
			continue
		}
		name, value := client.SecretSetting(m)
		switch state := strings.Trim(string(call.State), `"`); {
		case value != "":
			return name
		case t.Options.Target.RepeatedIn(string(m)):
			return client.UsersCredential
		case client.HeaderCredential(string(m)) != "":
			return "the credential of a header"
		case len(state) >= tokens.MinCoded && strings.Contains(string(m), state):
			return "the state"
		}
		for _, found := range loggedKey.FindAllSubmatch(m, -1) {
			// A digest of the call differs between calls.
			if keys[string(found[1])]++; keys[string(found[1])] > 1 {
				return "a key"
			}
		}
	}
	return ""
}

// trackCall makes a call with a progressToken and a log level.
func trackCall(t *review.T, name string, call client.Call) (trackedCall, bool) {
	c := t.Client
	x := trackedCall{name: name, token: call.Progress, level: call.Level, answer: -1}
	body, id, err := c.NextBody(call)
	if err == nil {
		err = c.Take(t.Context)
	}
	if t.SkipOn(err) {
		return x, false
	}
	if c.HTTP == nil {
		return x, trackLine(t, &x, body, id)
	}
	ctx, cancel := context.WithCancel(t.Context)
	defer cancel()
	http := *c.HTTP
	http.Limits.Time = min(http.Limits.Time, t.Options.Hang)
	e := http.Do(ctx, rawmcp.Request{Verb: "POST", Path: http.Path(), Headers: c.Headers(t.Context, call), Body: body, Done: func(m []byte) bool {
		if x.answer < 0 && client.IsAnswer(id)(m) {
			x.answer = len(x.messages)
			time.AfterFunc(openStreamTime, cancel)
		}
		x.messages = append(x.messages, m)
		return false
	}})
	c.Keep(e)
	x.lost = client.ReadAnswer(e, id).Kind == client.Broken && (e.Status == 0 && e.Err != nil || e.Status == 500)
	x.unended = x.answer < 0 && e.Stream && slices.ContainsFunc(bytes.Split(e.Received, []byte("\n")), func(line []byte) bool {
		return client.IsAnswer(id)(bytes.TrimPrefix(line, []byte("data:")))
	})
	x.open = x.answer >= 0 && e.Err != nil && ctx.Err() != nil && t.Context.Err() == nil
	return x, true
}

// trackLine sends a line to a new process, and another line after it. It reports whether both
// were answered.
func trackLine(t *review.T, x *trackedCall, body []byte, id int) bool {
	p := t.Process()
	if p == nil {
		return false
	}
	defer p.Stop(client.StopGrace)
	c := t.Client
	e := p.Do(t.Context, body, client.IsAnswer(id))
	c.Keep(e)
	next, second, err := c.NextBody(t.Client.Listing)
	if err != nil || e.Err != nil {
		t.Skip("%v", e.Err)
		return false
	}
	x.messages, x.answer = e.Messages, len(e.Messages)-1
	after := p.Do(t.Context, next, client.IsAnswer(second))
	if after.Err != nil {
		t.Skip("%v", after.Err)
		return false
	}
	x.messages = append(slices.Clone(x.messages), after.Messages[:len(after.Messages)-1]...)
	return true
}

// issue returns the fault in the messages, or "".
func (x trackedCall) issue() string {
	last := -1.0
	for i, m := range x.messages {
		all := jsondoc.Members(m)
		var method string
		var value float64
		params := jsondoc.Members(all["params"])
		_ = json.Unmarshal(all["method"], &method) // a response has no method
		own := jsondoc.SameText(string(params["progressToken"]), x.token)
		after := x.answer >= 0 && i > x.answer
		switch {
		case after && (method == "notifications/progress" && own):
			return "progress after the answer"
		case after && (all["result"] != nil || all["error"] != nil):
			return "a second answer"
		case method != "notifications/progress" || after:
			continue
		case !own:
			return "progress under the token " + client.Short(string(params["progressToken"]), 40)
		case json.Unmarshal(params["progress"], &value) != nil:
			return "progress without a number"
		case value <= last:
			return fmt.Sprintf("progress %v after %v", value, last)
		}
		last = value
	}
	if x.unended {
		return "no empty line ends the event of the answer"
	}
	if x.open {
		return fmt.Sprintf("the stream stays open for %v after the answer", openStreamTime)
	}
	return ""
}

func (x trackedCall) evidence() string {
	var b strings.Builder
	for i, m := range x.messages {
		fmt.Fprintf(&b, "%d: %s\n", i, client.Short(string(m), 200))
	}
	return b.String()
}
