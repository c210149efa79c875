package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/internal/rawmcp"
)

// outputChecks are the checks of what servers write to standard output.
var outputChecks = []review.Check{
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
