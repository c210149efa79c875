package transport

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// streams are the checks of servers on standard input and output. Each hostile line gets its own
// process.
var streams = []review.Check{
	{
		ID: "IO-CLEAN", Name: "standard output that is not JSON-RPC", Over: "stdio", Severity: review.Critical, Category: "transport",
		Sent:   "nothing; all of standard output is checked",
		Want:   "one JSON-RPC message a line",
		Source: review.SourceStdio,
		Impact: "clients cannot read the stream",
		Fix:    "log to standard error",
		Run:    cleanOutput,
	},
	{
		ID: "IO-REQUEST", Name: "requests of the server", Over: "stdio", Era: "modern", Severity: review.Warning, Category: "transport",
		Sent:   "nothing; all of standard output is checked",
		Want:   "no request of the server",
		Source: review.SourceStdio,
		Impact: "the client does not answer, and the call hangs",
		Fix:    "ask by a result that wants input",
		Run:    serverRequests,
	},
	{
		ID: "IO-VER", Name: "an unknown revision", Over: "stdio", Era: "modern", Severity: review.Critical, Category: "transport",
		Sent:   "1900-01-01 in _meta",
		Want:   "error -32022",
		Source: "revision 2026-07-28, basic/versioning",
		Impact: "client and server speak different protocols without noticing",
		Fix:    "compare the revision in _meta with those supported",
		Run:    lineVersion,
	},
	{
		ID: "IO-PREINIT", Name: "a request before the handshake", Over: "stdio", Severity: review.Suggestion, Category: "transport",
		Sent:   "tools/list without _meta and without initialize, in a process of its own",
		Want:   "an error",
		Source: "revision 2025-11-25, basic/lifecycle",
		Impact: "a client that skips the handshake is served",
		Fix:    "refuse requests before initialize",
		Run:    beforeHandshake,
	},
	{
		ID: "IO-LINE", Name: "lines that are no request", Over: "stdio", Severity: review.Warning, Category: "reliability",
		Sent: "no JSON, a number, NUL, invalid UTF-8, half a surrogate pair, an empty line, CR LF, a batch, " +
			"10,000 nested arrays, 100 KB; with --effects 3 MB; a request with U+2028, U+2029 and U+0085 in a text",
		Want:   "an error or silence, and the process goes on to answer; the request is answered",
		Source: review.SourceStdio,
		Impact: "one bad line ends the server and every session in it",
		Fix:    "answer -32700 and read on",
		Run:    hostileLines,
	},
	{
		ID: "IO-NOTE", Name: "answers that belong to no request", Over: "stdio", Severity: review.Warning, Category: "transport",
		Sent: "the notifications of clients, one that cancels an answered request, an unknown one, " +
			"a response that nobody asked for, a call of an unknown tool without an id, an array of two requests; " +
			"then an honest request",
		Want:   "no line on standard output after a notification, and an answer to the request; one error to an array",
		Source: "JSON-RPC 2.0, section 4.1; " + review.SourceStdio,
		Impact: "the client takes the line for the answer to another request",
		Fix:    "answer requests with an id alone, and refuse arrays",
		Run:    strayAnswers,
	},
	{
		ID: "IO-ID", Name: "an id that does not come back", Over: "stdio", Severity: review.Warning, Category: "schema",
		Sent: "tools/list under texts, of digits, of 127 characters and with a character that comes in two parts, " +
			"and a number beyond 32 bits",
		Want:   "an answer with the same id",
		Source: "revision 2026-07-28, basic",
		Impact: "the answer to a request is lost",
		Fix:    "keep the id as it came",
		Run:    lineIDs,
	},
	{
		ID: "IO-PARALLEL", Name: "a list during a slow call", Over: "stdio", Severity: review.Suggestion, Category: "reliability",
		Sent:   "tools/list while the tool of --slow runs",
		Want:   "answered first",
		Source: "revision 2026-07-28, basic",
		Impact: "one slow tool stops all others",
		Fix:    "handle requests concurrently",
		Timed:  true, Run: duringSlow,
	},
	{
		ID: "IO-CANCEL", Name: "a cancelled call", Over: "stdio", Severity: review.Warning, Category: "reliability",
		Sent:   "notifications/cancelled while the tool of --slow runs",
		Want:   "no response",
		Source: review.SourceStdio,
		Impact: "the client gets an answer that it no longer knows",
		Fix:    "stop the work and send nothing",
		Timed:  true, Run: cancelled,
	},
	{
		ID: "IO-EOF", Name: "the end of standard input", Over: "stdio", Severity: review.Warning, Category: "reliability",
		Sent:   "standard input is closed",
		Want:   "the process ends, and writes no other line",
		Source: review.SourceStdio,
		Impact: "processes stay behind",
		Fix:    "end when standard input does",
		Timed:  true, Run: endOfInput,
	},
	{
		ID: "IO-TERM", Name: "SIGTERM", Over: "stdio", Severity: review.Warning, Category: "reliability",
		Sent:   "SIGTERM",
		Want:   "the process ends",
		Source: review.SourceStdio,
		Impact: "the process has to be killed",
		Fix:    "end on SIGTERM",
		Timed:  true, Run: terminated,
	},
	{
		ID: "IO-STDERR", Name: "secrets on standard error", Over: "stdio", Severity: review.Warning, Category: "security",
		Sent:   "a good state and a changed one; standard error is searched for the state",
		Want:   "nothing of them",
		Source: "CWE-532",
		Impact: "logs hold what clients keep secret",
		Fix:    "log no states and no answers",
		Run:    standardError,
	},
}

// silence is how long to wait for an answer that a sound server may omit.
const silence = 5 * time.Second

func cleanOutput(t *review.T) { everyLine(t, review.Critical, notJSONRPC) }

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

func serverRequests(t *review.T) {
	everyLine(t, review.Warning, func(line []byte) string {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method *string         `json:"method"`
		}
		if json.Unmarshal(line, &m) == nil && m.Method != nil && m.ID != nil {
			return "the server sends a request: " + client.Short(*m.Method, 40)
		}
		return ""
	})
}

// everyLine judges all lines of standard output so far.
func everyLine(t *review.T, severity review.Severity, judge func([]byte) string) {
	if t.Client.Process == nil {
		if a := t.Call(client.ListTools); !a.Conclusive() {
			t.Skip("%v", a)
			return
		}
	}
	if t.Client.Process == nil {
		t.Skip("no process runs")
		return
	}
	for line := range bytes.Lines(t.Client.Process.Output()) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // the record ends within this line
		}
		t.Trials++
		if issue := judge(bytes.TrimRight(line, "\r\n")); issue != "" {
			t.Refute(review.Finding{Case: "standard output", Severity: severity, Issue: issue, Evidence: client.Short(string(line), 300), Want: "JSON-RPC", Got: issue})
			return
		}
	}
}

// lineVersion sends an unknown revision after server/discover, as clients do.
func lineVersion(t *review.T) {
	p := t.Process()
	if p == nil {
		return
	}
	defer p.Stop(client.StopGrace)
	a := lineTo(t, p, func(body []byte) []byte { return bytes.Replace(body, []byte(client.Modern), []byte("1900-01-01"), 1) })
	if a.Kind == client.Completed {
		t.Refute(review.Finding{Case: "1900-01-01", Severity: review.Critical, Issue: "a request of revision 1900-01-01 is served", Evidence: review.ExchangeText(a), Want: "-32022", Got: "served"})
	}
}

// lineTo sends an altered tools/list to a process.
func lineTo(t *review.T, p *rawmcp.Process, alter func([]byte) []byte) client.Answer {
	c := t.Client
	if err := c.Take(t.Context); err != nil {
		t.Skip("%v", err)
		return client.Answer{Kind: client.NoBudget, Cause: err}
	}
	c.ID++
	body, err := c.Body(client.ListTools, c.ID)
	if t.SkipOn(err) {
		return client.Answer{Kind: client.Broken, Cause: err}
	}
	e := p.Do(t.Context, alter(body), client.IsAnswer(c.ID))
	c.Keep(e)
	a := client.ReadAnswer(e, c.ID)
	c.NoteTrace("a line", a)
	t.Trials++
	return a
}

const strayResponse = "a response that nobody asked for"

// strayAnswers sends lines that need no response, each followed by an honest request.
func strayAnswers(t *review.T) {
	id := func() []byte { return fmt.Appendf(nil, `"id":%d,`, t.Client.ID) }
	instead := func(line string) func([]byte) []byte { return func([]byte) []byte { return []byte(line) } }
	for _, c := range []struct {
		name     string
		call     client.Call
		alter    func([]byte) []byte
		severity review.Severity
	}{
		{"notifications/cancelled", client.ListTools, instead(cancelNobody), review.Warning},
		{"a late notifications/cancelled", client.ListTools, func([]byte) []byte {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, t.Client.ID-1) // the control
		}, review.Warning},
		{"notifications/cancelled without a request", client.ListTools, instead(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`), review.Warning},
		{"notifications/roots/list_changed", client.ListTools, instead(unanswered["notifications/roots/list_changed"]), review.Warning},
		{"notifications/progress", client.ListTools, instead(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"sealab-none","progress":1}}`), review.Warning},
		{"notifications/sealab-none", client.ListTools, instead(`{"jsonrpc":"2.0","method":"notifications/sealab-none"}`), review.Warning},
		{strayResponse, client.ListTools, instead(unanswered["a response"]), review.Warning},
		{"a call of an unknown tool without an id", client.UnknownCall, func(body []byte) []byte { return bytes.Replace(body, id(), nil, 1) }, review.Warning},
		{"an array of two requests", client.ListTools, func(body []byte) []byte { return fmt.Appendf(nil, "[%s,%s]", body, body) }, review.Suggestion},
	} {
		if !t.Selected(c.name) {
			continue
		}
		p := t.Process()
		if p == nil {
			return
		}
		line, err := strayAnswer(t, p, c.call, c.alter)
		switch {
		case line != nil:
			if c.name == strayResponse && isInvalidRequest(line) {
				c.severity = review.Suggestion // a client does not take the line for a result
			}
			t.Refute(review.Finding{Case: c.name, Severity: c.severity, Issue: c.name + " is answered", Evidence: client.Short(string(line), 300), Want: "no response", Got: "a response"})
		case err != nil && stops(t, p):
			t.Refute(review.Finding{Case: c.name, Severity: review.Warning, Issue: "the process ends after " + c.name,
				Evidence: fmt.Sprintf("%v; standard error: %s", p.State(), client.Short(string(p.Stderr()), 200)), Want: "no response", Got: "ended"})
		case errors.Is(err, context.DeadlineExceeded) && t.Context.Err() == nil:
			t.Refute(review.Finding{Case: c.name, Severity: review.Warning, Issue: "an honest request is not answered after " + c.name, Evidence: err.Error(), Want: "answered", Got: string(client.Broken)})
		default:
			noise(t, p.Output(), c.name)
		}
		p.Stop(client.StopGrace)
	}
}

// isInvalidRequest reports whether a line is an Invalid Request error.
func isInvalidRequest(line []byte) bool {
	return string(jsondoc.Members(jsondoc.Members(line)["error"])["code"]) == "-32600"
}

// noise records a finding if a process has written a line that is not a message, or an error with a
// numeric ID that was not sent.
func noise(t *review.T, output []byte, after string) {
	for line := range bytes.Lines(output) {
		text := bytes.TrimSpace(line)
		issue := notJSONRPC(text)
		id := string(jsondoc.Members(text)["id"])
		if _, err := strconv.Atoi(id); err == nil && jsondoc.Members(text)["error"] != nil && !t.Client.SentID(id) {
			issue = "an error has the id " + id + " of no request"
		}
		if bytes.HasSuffix(line, []byte("\n")) && len(text) > 0 && text[0] != '[' && issue != "" {
			t.Refute(review.Finding{Case: after, Severity: review.Warning, Issue: "on standard output, after " + after + ": " + issue, Evidence: client.Short(string(line), 300), Want: "JSON-RPC", Got: issue})
			return
		}
	}
}

// strayAnswer sends an altered call and two honest requests. It returns the first response to
// another request, or nil. It allows errors for an array, and errors without an ID for a response,
// since JSON-RPC forbids only answers to notifications.
func strayAnswer(t *review.T, p *rawmcp.Process, call client.Call, alter func([]byte) []byte) ([]byte, error) {
	c := t.Client
	c.ID++
	body, err := c.Body(call, c.ID)
	if err != nil {
		return nil, err
	}
	altered := alter(body)
	c.Keep(p.Do(t.Context, altered, nil))
	t.Trials++
	for i := range 2 { // the second request gives the server time
		if i > 0 && client.SystemClock().Sleep(t.Context, pause) != nil {
			return nil, t.Context.Err()
		}
		c.ID++
		next, err := c.Body(client.ListTools, c.ID)
		if err = cmp.Or(err, c.Take(t.Context)); err != nil {
			return nil, err
		}
		e := p.Do(t.Context, next, client.IsAnswer(c.ID))
		if c.Keep(e); e.Err != nil {
			return nil, e.Err
		}
		for _, line := range e.Messages[:len(e.Messages)-1] {
			m := jsondoc.Members(line)
			id := string(m["id"])
			refusal := m["error"] != nil && (altered[0] == '[' || jsondoc.Members(altered)["method"] == nil && (id == "" || id == "null"))
			if line = bytes.TrimSpace(line); !refusal && (m["result"] != nil || m["error"] != nil || bytes.HasPrefix(line, []byte("["))) {
				return line, nil
			}
		}
	}
	return nil, nil
}

// stops reports whether a process ends within the grace period.
func stops(t *review.T, p *rawmcp.Process) bool {
	timer := time.NewTimer(t.Options.Grace)
	defer timer.Stop()
	select {
	case <-p.Ended():
		return true
	case <-timer.C:
		return false
	}
}

// lineIDs sends honest IDs and compares them with the IDs of the answers.
func lineIDs(t *review.T) {
	for _, id := range append(slices.Clone(honestIDs), splitText) {
		if !t.Selected(id) {
			continue
		}
		p := t.Process()
		if p == nil {
			return
		}
		c := t.Client
		c.ID++
		body, err := c.Body(client.ListTools, c.ID)
		if err != nil || c.Take(t.Context) != nil {
			return
		}
		body = bytes.Replace(body, fmt.Appendf(nil, `"id":%d`, c.ID), []byte(`"id":`+id), 1)
		begin, rest := idParts(body, id)
		if begin != nil && (p.Part(t.Context, begin) != nil || client.SystemClock().Sleep(t.Context, pause) != nil) {
			return
		}
		e := p.Do(t.Context, rest, func(line []byte) bool {
			return jsondoc.Members(line)["result"] != nil || jsondoc.Members(line)["error"] != nil
		})
		c.Keep(e)
		if p.Stop(client.StopGrace); e.Err != nil {
			t.Skip("%v", e.Err)
			return
		}
		t.Trials++
		last := e.Messages[len(e.Messages)-1]
		if got := string(jsondoc.Members(last)["id"]); !jsondoc.SameText(got, id) && jsondoc.Members(last)["result"] != nil {
			t.Refute(review.Finding{Case: id, Severity: review.Warning,
				Issue:    "id " + client.Short(id, 40) + " is answered with the id " + client.Short(got, 40),
				Evidence: client.Short(string(last), 300), Want: "the same id", Got: "another id"})
			return
		}
	}
}

// idParts returns the two parts in which a request is written. The first is nil unless the ID is
// splitText.
func idParts(body []byte, id string) (begin, rest []byte) {
	if id != splitText {
		return nil, body
	}
	at := bytes.Index(body, []byte(id)) + len(id) - 2
	return body[:at], body[at:]
}

func beforeHandshake(t *review.T) {
	p, err := rawmcp.Start(t.Client.Target.Command, rawmcp.Limits{Time: silence, Start: t.Options.Limits.Start})
	if t.SkipOn(err) {
		return
	}
	defer p.Stop(client.StopGrace)
	a := lineTo(t, p, func(body []byte) []byte {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{}}`, t.Client.ID)
	})
	if a.Kind == client.Completed {
		t.Refute(review.Finding{Case: "tools/list", Severity: review.Suggestion, Issue: "a request without a handshake and without _meta is served",
			Evidence: review.ExchangeText(a), Want: "an error", Got: "served"})
	}
}
