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

// stdioChecks are the checks of servers on standard input and output. Each hostile line gets its
// own process.
var stdioChecks = []review.Check{
	{
		ID: "IO-CLEAN", Name: "standard output that is not JSON-RPC", Over: "stdio", Severity: review.Critical, Category: "transport",
		Sent:   "nothing; the check inspects all of standard output",
		Want:   "writes one JSON-RPC message in UTF-8 per line and nothing else",
		Source: review.SourceStdio,
		Impact: "clients cannot read the stream",
		Fix:    "write logs to standard error",
		Run:    checkOutput,
	},
	{
		ID: "IO-REQUEST", Name: "requests sent by the server", Over: "stdio", Era: "modern", Severity: review.Warning, Category: "transport",
		Sent:   "nothing; the check inspects all of standard output",
		Want:   "sends no requests",
		Source: review.SourceStdio,
		Impact: "the client does not answer the request, and the call hangs",
		Fix:    "ask with an input_required result",
		Run:    checkServerRequests,
	},
	{
		ID: "IO-VER", Name: "an unknown protocol revision", Over: "stdio", Era: "modern", Severity: review.Critical, Category: "transport",
		Sent:   "tools/list with the revisions 1900-01-01 and 2099-12-31 in _meta",
		Want:   "answers error -32022",
		Source: "revision 2026-07-28, basic/versioning",
		Impact: "client and server use different protocol revisions without noticing",
		Fix:    "compare the revision in _meta with the supported ones, and answer -32022",
		Run:    checkLineVersion,
	},
	{
		ID: "IO-PREINIT", Name: "a request before the handshake", Over: "stdio", Severity: review.Suggestion, Category: "transport",
		Sent:   "tools/list without _meta and without initialize, in a separate process",
		Want:   "answers an error",
		Source: "revision 2025-11-25, basic/lifecycle",
		Impact: "a client that skips the handshake is served",
		Fix:    "refuse requests before initialize",
		Run:    checkHandshake,
	},
	{
		ID: "IO-LINE", Name: "lines that are not requests", Over: "stdio", Severity: review.Warning, Category: "reliability",
		Sent: "a text that is not JSON, half an object, a number, NUL, invalid UTF-8, half a surrogate pair, an " +
			"empty line, a line that ends with CR LF, an empty batch, 10,000 nested arrays, and 100 KB of one " +
			"character, each in a separate process; with --effects also 3 MB; requests that contain U+2028, " +
			"U+2029 and U+0085, and a request written in two parts",
		Want:   "answers an error or nothing to the lines, and continues to answer; answers the requests",
		Source: review.SourceStdio,
		Impact: "one bad line ends the server and all of its work",
		Fix:    "answer -32700 and read the next line; end lines only at a line feed",
		Run:    checkMalformedLines,
	},
	{
		ID: "IO-NOTE", Name: "responses to messages that need none", Over: "stdio", Severity: review.Warning, Category: "transport",
		Sent: "the notifications of clients, a cancellation of an answered request and one without a request id, " +
			"an unknown notification, an unsolicited response, a call of an unknown tool without an id, and an " +
			"array of two requests, each followed by unaltered requests",
		Want: "writes no response to a notification or response; may answer the array with one error; answers the " +
			"requests that follow",
		Source: "JSON-RPC 2.0, section 4.1; " + review.SourceStdio,
		Impact: "the client takes the line for the answer to another request",
		Fix:    "respond only to requests with an id, and refuse arrays",
		Run:    checkStrayResponses,
	},
	{
		ID: "IO-ID", Name: "a request id that changes in the answer", Over: "stdio", Severity: review.Warning, Category: "schema",
		Sent: "tools/list, a call of an unknown tool and an unknown method with the ids 0, -7, 4294967301 and 2^53-1, strings of " +
			"digits, of numbers with a sign, an exponent and leading zeros, of names of values, of 127 characters, " +
			"with escapes, and with non-ASCII characters, the empty string, and a string whose last character is " +
			"written in two parts",
		Want:   "answers with the same id",
		Source: "revision 2026-07-28, basic",
		Impact: "the client cannot match the answer to its request",
		Fix:    "store and repeat the id unchanged",
		Run:    checkLineIDs,
	},
	{
		ID: "IO-PARALLEL", Name: "a list during another call", Over: "stdio", Severity: review.Critical, Category: "reliability",
		Sent: "tools/list while the tool named by --slow runs; with --effects, tools/list in one write with the last round " +
			"of a flow",
		Want:   "answers tools/list before the slow call; answers each request once, under its own id",
		Source: "revision 2026-07-28, basic",
		Impact: "one slow tool blocks all others; a client takes the answer to one request for that to another",
		Fix:    "handle requests concurrently, and keep the id of a request with its own work",
		Timed:  true, Run: checkParallelCalls,
	},
	{
		ID: "IO-CANCEL", Name: "a canceled call that is answered", Over: "stdio", Severity: review.Warning, Category: "reliability",
		Sent:   "notifications/cancelled while the tool named by --slow runs",
		Want:   "sends no response to the call",
		Source: review.SourceStdio,
		Impact: "the client receives an answer to a request that it has forgotten",
		Fix:    "stop the work and send nothing",
		Timed:  true, Run: checkCancel,
	},
	{
		ID: "IO-EOF", Name: "the end of standard input", Over: "stdio", Severity: review.Warning, Category: "reliability",
		Sent:   "standard input is closed, also after a call that asks a question",
		Want:   "ends the process without writing anything but JSON-RPC messages",
		Source: review.SourceStdio,
		Impact: "server processes remain after their client has ended",
		Fix:    "end when standard input ends",
		Timed:  true, Run: checkEndOfInput,
	},
	{
		ID: "IO-TERM", Name: "a process that ignores SIGTERM", Over: "stdio", Severity: review.Warning, Category: "reliability",
		Sent:   "SIGTERM",
		Want:   "ends the process",
		Source: review.SourceStdio,
		Impact: "the client has to kill the process",
		Fix:    "end on SIGTERM",
		Timed:  true, Run: checkTermination,
	},
	{
		ID: "IO-STDERR", Name: "states on standard error", Over: "stdio", Severity: review.Warning, Category: "security",
		Sent:   "a good token and an altered one; the check searches standard error for the token",
		Want:   "writes no part of a token to standard error",
		Source: "CWE-532",
		Impact: "logs contain states, which anybody who reads the logs can present",
		Fix:    "log neither states nor answers",
		Run:    checkStandardError,
	},
}

// answerWait is how long to wait for an answer that a sound server may omit.
const answerWait = 5 * time.Second

func checkOutput(t *review.T) { judgeOutput(t, review.Critical, notJSONRPC) }

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

func checkServerRequests(t *review.T) {
	judgeOutput(t, review.Warning, func(line []byte) string {
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

// judgeOutput judges all lines of standard output so far.
func judgeOutput(t *review.T, severity review.Severity, judge func([]byte) string) {
	if t.Client.Process == nil {
		if a := t.Call(t.Client.Listing); !a.Conclusive() {
			t.Skip("%v", a)
			return
		}
	}
	if t.Client.Process == nil {
		t.Skip("no process runs")
		return
	}
	t.Trials++
	if line, issue := firstFault(t.Client.Process, judge); issue != "" {
		t.Refute(review.Finding{Case: "standard output", Severity: severity, Issue: issue, Evidence: client.Short(string(line), 300), Want: "JSON-RPC", Got: issue})
	}
}

// firstFault returns the first whole line that a process has written and that has an issue, and the
// issue.
func firstFault(p *rawmcp.Process, judge func([]byte) string) (line []byte, issue string) {
	if p == nil {
		return nil, ""
	}
	for line := range bytes.Lines(p.Output()) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // the record ends within this line
		}
		if issue := judge(bytes.TrimRight(line, "\r\n")); issue != "" {
			return line, issue
		}
	}
	return nil, ""
}

// checkLineVersion sends an unknown revision after server/discover, as clients do.
func checkLineVersion(t *review.T) {
	p := t.Process()
	if p == nil {
		return
	}
	defer p.Stop(client.StopGrace)
	for _, v := range []string{"1900-01-01", "2099-12-31"} {
		a := sendLine(t, p, func(body []byte) []byte { return bytes.Replace(body, []byte(client.Modern), []byte(v), 1) })
		if a.Kind == client.Completed {
			t.Refute(review.Finding{Case: v, Severity: review.Critical, Issue: "a request of revision " + v + " is served", Evidence: review.ExchangeText(a), Want: "-32022", Got: "served"})
			return
		}
	}
}

// sendLine sends an altered honest request to a process.
func sendLine(t *review.T, p *rawmcp.Process, alter func([]byte) []byte) client.Answer {
	c := t.Client
	if err := c.Take(t.Context); err != nil {
		t.Skip("%v", err)
		return client.Answer{Kind: client.NoBudget, Cause: err}
	}
	body, id, err := c.NextBody(t.Client.Listing)
	if t.SkipOn(err) {
		return client.Answer{Kind: client.Broken, Cause: err}
	}
	e := p.Do(t.Context, alter(body), client.IsAnswer(id))
	c.Keep(e)
	a := client.ReadAnswer(e, id)
	c.NoteTrace("a line", a)
	t.Trials++
	return a
}

const strayResponseCase = "a response that nobody asked for"

// checkStrayResponses sends lines that need no response, each followed by an honest request.
func checkStrayResponses(t *review.T) {
	id := func() []byte { return fmt.Appendf(nil, `"id":%d,`, t.Client.ID) }
	instead := func(line string) func([]byte) []byte { return func([]byte) []byte { return []byte(line) } }
	for _, c := range []struct {
		name     string
		call     client.Call
		alter    func([]byte) []byte
		severity review.Severity
	}{
		{"notifications/cancelled", t.Client.Listing, instead(unknownCancellation), review.Warning},
		{"a late notifications/cancelled", t.Client.Listing, func([]byte) []byte {
			return client.CancelNotice(t.Client.ID - 1) // the control
		}, review.Warning},
		{"notifications/cancelled without a request", t.Client.Listing, instead(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`), review.Warning},
		{"notifications/roots/list_changed", t.Client.Listing, instead(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`), review.Warning},
		{"notifications/progress", t.Client.Listing, instead(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"sealab-none","progress":1}}`), review.Warning},
		{"notifications/sealab-none", t.Client.Listing, instead(`{"jsonrpc":"2.0","method":"notifications/sealab-none"}`), review.Warning},
		{strayResponseCase, t.Client.Listing, instead(`{"jsonrpc":"2.0","id":99999,"result":{}}`), review.Warning},
		{"a call of an unknown tool without an id", client.UnknownCall, func(body []byte) []byte { return bytes.Replace(body, id(), nil, 1) }, review.Warning},
		{"an array of two requests", t.Client.Listing, func(body []byte) []byte { return fmt.Appendf(nil, "[%s,%s]", body, body) }, review.Suggestion},
	} {
		if !t.Selected(c.name) {
			continue
		}
		p := t.Process()
		if p == nil {
			return
		}
		line, err := findStrayResponse(t, p, c.call, c.alter)
		switch {
		case line != nil:
			if c.name == strayResponseCase && isInvalidRequest(line) {
				c.severity = review.Suggestion // a client does not take the line for a result
			}
			t.Refute(review.Finding{Case: c.name, Severity: c.severity, Issue: c.name + " is answered", Evidence: client.Short(string(line), 300), Want: "no response", Got: "a response"})
		case err != nil && endsInTime(t, p):
			t.Refute(review.Finding{Case: c.name, Severity: review.Warning, Issue: "the process ends after " + c.name,
				Evidence: fmt.Sprintf("%v; standard error: %s", p.State(), client.Short(string(p.Stderr()), 200)), Want: "no response", Got: "ended"})
		case errors.Is(err, context.DeadlineExceeded) && t.Context.Err() == nil:
			t.Refute(review.Finding{Case: c.name, Severity: review.Warning, Issue: "an honest request is not answered after " + c.name, Evidence: err.Error(), Want: "answered", Got: string(client.Broken)})
		default:
			judgeLines(t, p.Output(), c.name)
		}
		p.Stop(client.StopGrace)
	}
}

// isInvalidRequest reports whether a line is an Invalid Request error.
func isInvalidRequest(line []byte) bool {
	return string(jsondoc.At(line, "error", "code")) == "-32600"
}

// judgeLines records a finding if a process has written a line that is not a message, or an error
// with a numeric ID that was not sent. It leaves an issue of the server's ordinary output to IO-CLEAN.
func judgeLines(t *review.T, output []byte, after string) {
	_, ordinary := firstFault(t.Client.Process, notJSONRPC)
	for line := range bytes.Lines(output) {
		text := bytes.TrimSpace(line)
		issue := notJSONRPC(text)
		id := string(jsondoc.Members(text)["id"])
		if _, err := strconv.Atoi(id); err == nil && jsondoc.Members(text)["error"] != nil && !t.Client.SentID(id) {
			issue = "an error has the id " + id + " of no request"
		}
		if bytes.HasSuffix(line, []byte("\n")) && len(text) > 0 && text[0] != '[' && issue != "" && issue != ordinary {
			t.Refute(review.Finding{Case: after, Severity: review.Warning, Issue: "on standard output, after " + after + ": " + issue, Evidence: client.Short(string(line), 300), Want: "JSON-RPC", Got: issue})
			return
		}
	}
}

// findStrayResponse sends an altered call and two honest requests. It returns the first response to
// another request, or nil. It allows errors for an array, and errors without an ID for a response,
// since JSON-RPC forbids only answers to notifications.
func findStrayResponse(t *review.T, p *rawmcp.Process, call client.Call, alter func([]byte) []byte) ([]byte, error) {
	c := t.Client
	body, _, err := c.NextBody(call)
	if err != nil {
		return nil, err
	}
	altered := alter(body)
	c.Keep(p.Do(t.Context, altered, nil))
	t.Trials++
	for i := range 2 { // the second request gives the server time
		if i > 0 && client.SystemClock().Sleep(t.Context, shortPause) != nil {
			return nil, t.Context.Err()
		}
		next, honest, err := c.NextBody(t.Client.Listing)
		if err = cmp.Or(err, c.Take(t.Context)); err != nil {
			return nil, err
		}
		e := p.Do(t.Context, next, client.IsAnswer(honest))
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

// endsInTime reports whether a process ends within the grace period.
func endsInTime(t *review.T, p *rawmcp.Process) bool {
	timer := time.NewTimer(t.Options.Grace)
	defer timer.Stop()
	select {
	case <-p.Ended():
		return true
	case <-timer.C:
		return false
	}
}

// checkLineIDs sends honest IDs and compares them with the IDs of the answers.
func checkLineIDs(t *review.T) {
	p := t.Process()
	if p == nil {
		return
	}
	defer p.Stop(client.StopGrace)
	for _, id := range append(slices.Clone(honestIDs), splitCharacterID) {
		if t.Selected(id) && !answersLineID(t, p, lineCase{id, id, t.Client.Listing, nil}) {
			return
		}
	}
	for _, c := range refusedCalls {
		ordinary := sendLineID(t, p, c.call, ordinaryID)
		if ordinary == nil {
			return
		}
		for _, id := range honestIDs {
			if name := id + " of " + c.name; t.Selected(name) && !answersLineID(t, p, lineCase{name, id, c.call, ordinary}) {
				return
			}
		}
	}
}

// ordinaryID is an ID that every server repeats.
const ordinaryID = "4711"

// A lineCase is a call with an ID, and the response to the same call with an ordinary ID.
type lineCase struct {
	name, id string
	call     client.Call
	ordinary []byte
}

// answersLineID makes a call and reports whether the next ID can be tried. It records a finding if
// the response has another ID, or none although the ordinary one has an ID.
func answersLineID(t *review.T, p *rawmcp.Process, x lineCase) bool {
	answer := sendLineID(t, p, x.call, x.id)
	if answer == nil {
		return false
	}
	got := otherID(answer, x.id)
	if losesID(answer, x.ordinary) {
		got = "null"
	}
	if t.Trials++; got == "" {
		return true
	}
	t.Refute(review.Finding{Case: x.name, Severity: review.Warning,
		Issue:    "id " + client.Short(x.id, 40) + " is answered with the id " + client.Short(got, 40),
		Evidence: client.Short(string(answer), 300), Want: "the same id", Got: "another id"})
	return false
}

// sendLineID makes a call with an ID and returns the response. It skips the check and returns nil if
// there is none.
func sendLineID(t *review.T, p *rawmcp.Process, call client.Call, id string) []byte {
	c := t.Client
	body, own, err := c.NextBody(call)
	if err != nil || c.Take(t.Context) != nil {
		return nil
	}
	body = bytes.Replace(body, fmt.Appendf(nil, `"id":%d`, own), []byte(`"id":`+id), 1)
	begin, rest := idParts(body, id)
	if begin != nil && (p.Part(t.Context, begin) != nil || client.SystemClock().Sleep(t.Context, shortPause) != nil) {
		return nil
	}
	e := p.Do(t.Context, rest, func(line []byte) bool {
		return jsondoc.Members(line)["result"] != nil || jsondoc.Members(line)["error"] != nil
	})
	c.Keep(e)
	if e.Err != nil {
		t.Skip("id %s: %v", client.Short(id, 40), e.Err)
		return nil
	}
	return e.Messages[len(e.Messages)-1]
}

// idParts returns the two parts in which a request is written. The first is nil unless the ID is
// splitCharacterID.
func idParts(body []byte, id string) (begin, rest []byte) {
	if id != splitCharacterID {
		return nil, body
	}
	at := bytes.Index(body, []byte(id)) + len(id) - 2
	return body[:at], body[at:]
}

func checkHandshake(t *review.T) {
	p, err := rawmcp.Start(t.Client.Target.Command, rawmcp.Limits{Time: answerWait, Start: t.Options.Limits.Start})
	if t.SkipOn(err) {
		return
	}
	defer p.Stop(client.StopGrace)
	a := sendLine(t, p, func(body []byte) []byte {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{}}`, t.Client.ID, t.Client.Listing.Method)
	})
	if a.Kind == client.Completed {
		t.Refute(review.Finding{Case: "tools/list", Severity: review.Suggestion, Issue: "a request without a handshake and without _meta is served",
			Evidence: review.ExchangeText(a), Want: "an error", Got: "served"})
	}
}
