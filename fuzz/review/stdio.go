package review

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"sealab/internal/rawmcp"
)

const stdioSpec = "revision 2026-07-28, basic/transports/stdio"

// streams are the checks of servers on standard input and output. Each hostile
// line has a process of its own.
var streams = []Check{
	{ID: "IO-CLEAN", Name: "standard output that is not JSON-RPC", Over: "stdio", Severity: Critical, Category: "transport",
		Sent: "nothing; all of standard output is checked", Want: "one JSON-RPC message a line", Source: stdioSpec, Impact: "clients cannot read the stream", Fix: "log to standard error", Run: cleanOutput},
	{ID: "IO-REQUEST", Name: "requests of the server", Over: "stdio", Era: "modern", Severity: Warning, Category: "transport",
		Sent: "nothing; all of standard output is checked", Want: "no request of the server", Source: stdioSpec, Impact: "the client does not answer, and the call hangs", Fix: "ask by a result that wants input", Run: serverRequests},
	{ID: "IO-VER", Name: "an unknown revision", Over: "stdio", Era: "modern", Severity: Critical, Category: "transport",
		Sent: "1900-01-01 in _meta", Want: "error -32022", Source: "revision 2026-07-28, basic/versioning", Impact: "client and server speak different protocols without noticing", Fix: "compare the revision in _meta with those supported", Run: lineVersion},
	{ID: "IO-PREINIT", Name: "a request before the handshake", Over: "stdio", Severity: Suggestion, Category: "transport",
		Sent: "tools/list without _meta and without initialize, in a process of its own", Want: "an error", Source: "revision 2025-11-25, basic/lifecycle", Impact: "a client that skips the handshake is served", Fix: "refuse requests before initialize", Run: beforeHandshake},
	{ID: "IO-LINE", Name: "lines that are no request", Over: "stdio", Severity: Warning, Category: "reliability",
		Sent: "no JSON, a number, NUL, invalid UTF-8, half a surrogate pair, an empty line, CR LF, a batch, 10,000 nested arrays, 100 KB; with --effects 3 MB; a request with U+2028, U+2029 and U+0085 in a text", Want: "an error or silence, and the process goes on to answer; the request is answered", Source: stdioSpec,
		Impact: "one bad line ends the server and every session in it", Fix: "answer -32700 and read on", Run: hostileLines},
	{ID: "IO-NOTE", Name: "answers that belong to no request", Over: "stdio", Severity: Warning, Category: "transport",
		Sent: "the notifications of clients, one that cancels an answered request, an unknown one, a response that nobody asked for, a call of an unknown tool without an id, an array of two requests; then an honest request", Want: "no line on standard output after a notification, and an answer to the request; one error to an array", Source: "JSON-RPC 2.0, section 4.1; " + stdioSpec,
		Impact: "the client takes the line for the answer to another request", Fix: "answer requests with an id alone, and refuse arrays", Run: strayAnswers},
	{ID: "IO-ID", Name: "an id that does not come back", Over: "stdio", Severity: Warning, Category: "schema",
		Sent: "tools/list under texts, of digits and of 127 characters, and a number beyond 32 bits", Want: "an answer with the same id", Source: "revision 2026-07-28, basic",
		Impact: "the answer to a request is lost", Fix: "keep the id as it came", Run: lineIDs},
	{ID: "IO-PARALLEL", Name: "a list during a slow call", Over: "stdio", Severity: Suggestion, Category: "reliability",
		Sent: "tools/list while the tool of --slow runs", Want: "answered first", Source: "revision 2026-07-28, basic", Impact: "one slow tool stops all others", Fix: "handle requests concurrently", Timed: true, Run: duringSlow},
	{ID: "IO-CANCEL", Name: "a cancelled call", Over: "stdio", Severity: Warning, Category: "reliability",
		Sent: "notifications/cancelled while the tool of --slow runs", Want: "no response", Source: stdioSpec, Impact: "the client gets an answer that it no longer knows", Fix: "stop the work and send nothing", Timed: true, Run: cancelled},
	{ID: "IO-EOF", Name: "the end of standard input", Over: "stdio", Severity: Warning, Category: "reliability",
		Sent: "standard input is closed", Want: "the process ends", Source: stdioSpec, Impact: "processes stay behind", Fix: "end when standard input does", Timed: true, Run: endOfInput},
	{ID: "IO-TERM", Name: "SIGTERM", Over: "stdio", Severity: Warning, Category: "reliability",
		Sent: "SIGTERM", Want: "the process ends", Source: stdioSpec, Impact: "the process has to be killed", Fix: "end on SIGTERM", Timed: true, Run: terminated},
	{ID: "IO-STDERR", Name: "secrets on standard error", Over: "stdio", Severity: Warning, Category: "security",
		Sent: "a good state and a changed one; standard error is searched for the state", Want: "nothing of them", Source: "CWE-532", Impact: "logs hold what clients keep secret", Fix: "log no states and no answers", Run: standardError},
}

// process starts a server of its own for a check, with a good request answered.
func (t *T) process() *rawmcp.Process { return t.processWithin(t.r.client.limits.Time) }

// silence is how long an answer is waited for that a sound server may leave out.
const silence = 5 * time.Second

// processWithin starts a server whose answers are waited for within a limit.
func (t *T) processWithin(limit time.Duration) *rawmcp.Process {
	limits := t.r.client.limits
	limits.Time = limit
	p, err := rawmcp.Start(t.r.client.target.Command, limits)
	if err != nil {
		t.skip("%v", err)
		return nil
	}
	reason := ""
	if t.r.client.older != "" {
		if a := t.r.client.handshake(t.ctx, p); a.Kind != completed {
			reason = "initialize: " + a.String()
		}
	}
	if reason = cmp.Or(reason, t.pings(p)); reason != "" {
		t.skip("control: %s", reason)
		p.Stop(stopGrace)
		return nil
	}
	return p
}

// pings reports why a process does not answer an honest request, "" if it does.
func (t *T) pings(p *rawmcp.Process) string {
	c := t.r.client
	if err := c.take(t.ctx); err != nil {
		return err.Error()
	}
	c.id++
	body, err := c.body(c.idle(), c.id)
	if err != nil {
		return err.Error()
	}
	e := p.Do(t.ctx, body, isAnswer(c.id))
	c.kept(e)
	if a := read(e, c.id); a.Kind == broken {
		return a.String()
	}
	return ""
}

func cleanOutput(t *T) { t.everyLine(Critical, notJSONRPC) }

func notJSONRPC(line []byte) string {
	var m struct {
		Version string          `json:"jsonrpc"`
		Method  *string         `json:"method"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	switch {
	case json.Unmarshal(line, &m) != nil:
		return "a line is not JSON"
	case !utf8.Valid(line):
		return "a line is not UTF-8"
	case m.Version != "2.0" || m.Method == nil && m.Result == nil && m.Error == nil:
		return "a line is not a JSON-RPC message"
	}
	return ""
}

func serverRequests(t *T) {
	t.everyLine(Warning, func(line []byte) string {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method *string         `json:"method"`
		}
		if json.Unmarshal(line, &m) == nil && m.Method != nil && m.ID != nil {
			return "the server sends a request: " + short(*m.Method, 40)
		}
		return ""
	})
}

// everyLine judges all lines of standard output so far.
func (t *T) everyLine(severity Severity, judge func([]byte) string) {
	if t.r.client.process == nil {
		if a := t.r.client.call(t.ctx, listCall); !a.conclusive() {
			t.skip("%v", a)
			return
		}
	}
	if t.r.client.process == nil {
		t.skip("no process runs")
		return
	}
	for line := range bytes.Lines(t.r.client.process.Output()) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // cut by the limit of the record
		}
		t.trials++
		if issue := judge(bytes.TrimRight(line, "\r\n")); issue != "" {
			t.refute(Finding{Case: "standard output", Severity: severity, Issue: issue, Evidence: short(string(line), 300), Want: "JSON-RPC", Got: issue})
			return
		}
	}
}

// lineVersion sends an unknown revision after server/discover, which is the
// order of clients.
func lineVersion(t *T) {
	p := t.process()
	if p == nil {
		return
	}
	defer p.Stop(stopGrace)
	a := t.lineTo(p, func(body []byte) []byte { return bytes.Replace(body, []byte(modern), []byte("1900-01-01"), 1) })
	if a.Kind == completed {
		t.refute(Finding{Case: "1900-01-01", Severity: Critical, Issue: "a request of revision 1900-01-01 is served", Evidence: sent(a.Exchange) + " -> " + a.String(), Want: "-32022", Got: "served"})
	}
}

// lineTo sends an altered tools/list to a process.
func (t *T) lineTo(p *rawmcp.Process, alter func([]byte) []byte) Answer {
	c := t.r.client
	if err := c.take(t.ctx); err != nil {
		t.skip("%v", err)
		return Answer{Kind: noBudget, Cause: err}
	}
	c.id++
	body, err := c.body(listCall, c.id)
	if err != nil {
		t.skip("%v", err)
		return Answer{Kind: broken, Cause: err}
	}
	e := p.Do(t.ctx, alter(body), isAnswer(c.id))
	c.kept(e)
	a := read(e, c.id)
	t.seen(variant{name: "line"}, a)
	return a
}

// strayAnswers sends lines that want no response, each with an honest request behind it.
func strayAnswers(t *T) {
	id := func() []byte { return fmt.Appendf(nil, `"id":%d,`, t.r.client.id) }
	instead := func(line string) func([]byte) []byte { return func([]byte) []byte { return []byte(line) } }
	for _, c := range []struct {
		name     string
		call     Call
		alter    func([]byte) []byte
		severity Severity
	}{
		{"notifications/cancelled", listCall, instead(cancelNobody), Warning},
		{"a late notifications/cancelled", listCall, func([]byte) []byte {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, t.r.client.id-1) // of the control
		}, Warning},
		{"notifications/cancelled without a request", listCall, instead(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`), Warning},
		{"notifications/roots/list_changed", listCall, instead(unanswered["notifications/roots/list_changed"]), Warning},
		{"notifications/sealab-none", listCall, instead(`{"jsonrpc":"2.0","method":"notifications/sealab-none"}`), Warning},
		{"a response that nobody asked for", listCall, instead(unanswered["a response"]), Warning},
		{"a call of an unknown tool without an id", unknownCall, func(body []byte) []byte { return bytes.Replace(body, id(), nil, 1) }, Warning},
		{"an array of two requests", listCall, func(body []byte) []byte { return fmt.Appendf(nil, "[%s,%s]", body, body) }, Suggestion},
	} {
		if t.only != "" && t.only != c.name {
			continue
		}
		p := t.process()
		if p == nil {
			return
		}
		line, err := t.strayAnswer(p, c.call, c.alter)
		switch {
		case line != nil:
			t.refute(Finding{Case: c.name, Severity: c.severity, Issue: c.name + " is answered", Evidence: short(string(line), 300), Want: "no response", Got: "a response"})
		case err != nil && t.stops(p):
			t.refute(Finding{Case: c.name, Severity: Warning, Issue: "the process ends after " + c.name, Evidence: fmt.Sprintf("%v; standard error: %s", p.State(), short(string(p.Stderr()), 200)), Want: "no response", Got: "ended"})
		case errors.Is(err, context.DeadlineExceeded) && t.ctx.Err() == nil:
			t.refute(Finding{Case: c.name, Severity: Warning, Issue: "an honest request is not answered after " + c.name, Evidence: err.Error(), Want: "answered", Got: string(broken)})
		default:
			t.noise(p, c.name)
		}
		p.Stop(stopGrace)
	}
}

// noise refutes if a process has written a line that is no message.
func (t *T) noise(p *rawmcp.Process, after string) {
	for line := range bytes.Lines(p.Output()) {
		text := bytes.TrimSpace(line)
		if issue := notJSONRPC(text); bytes.HasSuffix(line, []byte("\n")) && len(text) > 0 && text[0] != '[' && issue != "" {
			t.refute(Finding{Case: after, Severity: Warning, Issue: "on standard output, after " + after + ": " + issue, Evidence: short(string(line), 300), Want: "JSON-RPC", Got: issue})
			return
		}
	}
}

// strayAnswer sends an altered call and two honest requests, and returns the first response
// that is none of theirs; nil if there is none. The refusal of an array is none, nor is
// that of a response, without an id: JSON-RPC forbids no more than to answer notifications.
func (t *T) strayAnswer(p *rawmcp.Process, call Call, alter func([]byte) []byte) ([]byte, error) {
	c := t.r.client
	c.id++
	body, err := c.body(call, c.id)
	if err != nil {
		return nil, err
	}
	altered := alter(body)
	c.kept(p.Do(t.ctx, altered, nil))
	t.trials++
	for i := range 2 { // the second one gives the server time
		if i > 0 && SystemClock().Sleep(t.ctx, pause) != nil {
			return nil, t.ctx.Err()
		}
		c.id++
		next, err := c.body(listCall, c.id)
		if err = cmp.Or(err, c.take(t.ctx)); err != nil {
			return nil, err
		}
		e := p.Do(t.ctx, next, isAnswer(c.id))
		if c.kept(e); e.Err != nil {
			return nil, e.Err
		}
		for _, line := range e.Messages[:len(e.Messages)-1] {
			m := members(line)
			id := string(m["id"])
			refusal := m["error"] != nil && (altered[0] == '[' || members(altered)["method"] == nil && (id == "" || id == "null"))
			if line = bytes.TrimSpace(line); !refusal && (m["result"] != nil || m["error"] != nil || bytes.HasPrefix(line, []byte("["))) {
				return line, nil
			}
		}
	}
	return nil, nil
}

// stops reports whether a process ends within the time that it is given.
func (t *T) stops(p *rawmcp.Process) bool {
	timer := time.NewTimer(t.r.opts.Grace)
	defer timer.Stop()
	select {
	case <-p.Ended():
		return true
	case <-timer.C:
		return false
	}
}

// lineIDs sends honest ids and compares them with those of the answers.
func lineIDs(t *T) {
	for _, id := range honestIDs {
		if t.only != "" && t.only != id {
			continue
		}
		p := t.process()
		if p == nil {
			return
		}
		c := t.r.client
		c.id++
		body, err := c.body(listCall, c.id)
		if err != nil || c.take(t.ctx) != nil {
			return
		}
		body = bytes.Replace(body, fmt.Appendf(nil, `"id":%d`, c.id), []byte(`"id":`+id), 1)
		e := p.Do(t.ctx, body, func(line []byte) bool { return members(line)["result"] != nil || members(line)["error"] != nil })
		c.kept(e)
		if p.Stop(stopGrace); e.Err != nil {
			t.skip("%v", e.Err)
			return
		}
		t.trials++
		last := e.Messages[len(e.Messages)-1]
		if got := string(members(last)["id"]); !sameID(got, id) && members(last)["result"] != nil {
			t.refute(Finding{Case: id, Severity: Warning, Issue: "id " + short(id, 40) + " is answered with the id " + short(got, 40), Evidence: short(string(last), 300), Want: "the same id", Got: "another id"})
			return
		}
	}
}

func beforeHandshake(t *T) {
	p, err := rawmcp.Start(t.r.client.target.Command, rawmcp.Limits{Time: silence, Start: t.r.opts.Limits.Start})
	if err != nil {
		t.skip("%v", err)
		return
	}
	defer p.Stop(stopGrace)
	a := t.lineTo(p, func(body []byte) []byte {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{}}`, t.r.client.id)
	})
	if a.Kind == completed {
		t.refute(Finding{Case: "tools/list", Severity: Suggestion, Issue: "a request without a handshake and without _meta is served", Evidence: sent(a.Exchange) + " -> " + a.String(), Want: "an error", Got: "served"})
	}
}
