package transport

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// processChecks are the checks of parallel calls, cancellation, and the end of the process.
var processChecks = []review.Check{
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

// startSlowCall returns a slow call and a new process for it, or nil. It skips the check if there
// is none.
func startSlowCall(t *review.T) (client.Call, *rawmcp.Process) {
	call, ok := t.SlowCall()
	if !ok {
		return call, nil
	}
	began := time.Now()
	if whole, took := t.Call(call), time.Since(began); whole.Kind != client.Completed || took < minSlowCall {
		t.Skip("control: a whole call of the slow tool: %v after %v", whole, took.Round(time.Millisecond))
		return call, nil
	}
	return call, t.Process()
}

// minSlowCall is the shortest duration of a slow call. It leaves time for another request.
const minSlowCall = 100 * time.Millisecond

// checkParallelCalls sends a list beside the last rounds of flows, and beside the slow call.
func checkParallelCalls(t *review.T) {
	if mixesLastRounds(t) || t.Options.Slow == "" && t.Trials > 0 || !t.Selected("tools/list") {
		return
	}
	call, p := startSlowCall(t)
	if p == nil {
		return
	}
	defer p.Stop(client.StopGrace)
	slow, list, e := sendTwoCalls(t, p, call, t.Client.Listing)
	if e.Err != nil {
		t.Skip("%v", e.Err)
		return
	}
	t.Trials++
	if client.IsAnswer(slow)(e.Messages[len(e.Messages)-1]) {
		t.Refute(review.Finding{Case: "tools/list", Severity: review.Suggestion, Issue: "tools/list waits for a slow call",
			Evidence: fmt.Sprintf("request %d before %d was answered after it", list, slow), Want: "the list first", Got: "the slow call first"})
	}
}

// sendTwoCalls sends two calls and reads until the first answer.
func sendTwoCalls(t *review.T, p *rawmcp.Process, one, two client.Call) (first, second int, e *rawmcp.Exchange) {
	c := t.Client
	body, first, err := c.NextBody(one)
	next, second, also := c.NextBody(two)
	if err = cmp.Or(err, also); err != nil {
		return first, second, &rawmcp.Exchange{Err: err}
	}
	if e = p.Do(t.Context, body, nil); e.Err != nil {
		return first, second, e
	}
	e = p.Do(t.Context, next, func(line []byte) bool { return client.IsAnswer(first)(line) || client.IsAnswer(second)(line) })
	return first, second, e
}

func checkCancel(t *review.T) {
	call, p := startSlowCall(t)
	if p == nil {
		return
	}
	defer p.Stop(client.StopGrace)
	c := t.Client
	body, id, err := c.NextBody(call)
	if t.SkipOn(err) {
		return
	}
	p.Do(t.Context, body, nil)
	p.Do(t.Context, client.CancelNotice(id), nil)
	ctx, cancel := context.WithTimeout(t.Context, t.Options.Grace) // a sound server does not answer
	defer cancel()
	e := p.Await(ctx, client.IsAnswer(id))
	t.Trials++
	if e.Err == nil {
		t.Refute(review.Finding{Case: call.Target, Severity: review.Warning, Issue: "a canceled call is answered", Evidence: client.Short(string(e.Body), 300), Want: "no response", Got: "a response"})
	}
}

func checkEndOfInput(t *review.T) {
	p := t.Process()
	if p == nil {
		return
	}
	before := len(p.Output())
	if !endsWithInput(t, p, "end of input", "its standard input ended") {
		return
	}
	judgeLines(t, p.Output()[before:], "the end of standard input")
	if len(t.Flows) > 0 {
		endInputAfterQuestion(t, t.Flows[0])
	}
}

// endsWithInput closes the input of a process. It records a finding if the process goes on, and reports
// whether it ended.
func endsWithInput(t *review.T, p *rawmcp.Process, name, event string) bool {
	t.Trials++
	ended := p.Stop(t.Options.Grace)
	if !ended {
		t.Refute(review.Finding{Case: name, Severity: review.Warning, Issue: "the process goes on after " + event,
			Evidence: fmt.Sprintf("it had to be killed after %v", t.Options.Grace), Want: "ended", Got: "killed"})
	}
	return ended
}

// endInputAfterQuestion closes the input of a new process that waits for the answer to a question.
func endInputAfterQuestion(t *review.T, f client.Flow) {
	p := t.Process()
	if p == nil {
		return
	}
	body, id, err := t.Client.NextBody(f.Call(client.FirstUser))
	if t.SkipOn(err) {
		p.Stop(client.StopGrace)
		return
	}
	e := p.Do(t.Context, body, func(line []byte) bool { return client.IsAnswer(id)(line) || client.IsQuestion(line) })
	if t.SkipOn(e.Err) {
		p.Stop(client.StopGrace)
		return
	}
	endsWithInput(t, p, "end of input after a question", fmt.Sprintf("%s asked a question and standard input ended", f.Target))
}

func checkTermination(t *review.T) {
	p := t.Process()
	if p == nil {
		return
	}
	t.Trials++
	if t.SkipOn(p.Terminate()) {
		p.Stop(client.StopGrace)
		return
	}
	if !endsInTime(t, p) {
		t.Refute(review.Finding{Case: "SIGTERM", Severity: review.Warning, Issue: "the process goes on after SIGTERM",
			Evidence: fmt.Sprintf("it had to be killed after %v", t.Options.Grace), Want: "ended", Got: "killed"})
	}
	p.Stop(client.StopGrace)
}

func checkStandardError(t *review.T) {
	if t.Client.Process == nil || len(t.Oracles) == 0 {
		t.Skip("no token was seen")
		return
	}
	t.Trials++
	token, _, err := t.Client.Mint(t.Context, t.Oracles[0].Flow, client.FirstUser)
	if t.SkipOn(err) {
		return
	}
	t.Client.Present(t.Context, t.Oracles[0].Flow, jsondoc.Quote(token), client.FirstUser)
	t.Client.Present(t.Context, t.Oracles[0].Flow, jsondoc.Quote(token+"x"), client.FirstUser) // servers log refusals
	p := t.Client.Process
	p.Stop(client.StopGrace) // standard error is complete once the process has ended
	t.Client.Process = nil
	if text := string(p.Stderr()); strings.Contains(text, token) {
		t.Refute(review.Finding{Case: "a token", Severity: review.Warning, Issue: "a token stands on standard error", Evidence: client.Short(text, 300), Want: "nothing of it", Got: "a token"})
	}
}

// mixesLastRounds sends the last round of each flow and, in the same write, tools/list. It records a finding if the
// two requests do not get one response each under their own ids, twice.
func mixesLastRounds(t *review.T) bool {
	if !t.Options.Effects || !t.Modern() || !t.Report.Server.Has("tools") {
		return false
	}
	tried := 0
	for _, o := range t.Oracles {
		label := "tools/list beside the last round of " + o.Flow.String()
		if !o.Completes() || !t.Selected(label) || tried == review.MaxTestedCalls {
			continue
		}
		tried++
		x := listBesideRound(t, o.Flow)
		issue := x.issue()
		if issue != "" {
			x = listBesideRound(t, o.Flow)
			issue = x.issue()
		}
		if issue != "" {
			t.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: issue, Flow: &o.Flow,
				Evidence: fmt.Sprintf("the last round is request %d, tools/list is request %d; responses: %s", x.round, x.list, x.text()), Want: "one response with the id of each request", Got: "the id of another request"})
			return true
		}
	}
	return false
}

// A besideRound has the ids of a last round and of a list, and the responses that came after them.
type besideRound struct {
	round, list int
	responses   [][]byte
	unanswered  bool // the server lives, and no more responses came in time
}

// listBesideRound writes the last round of a flow and tools/list at once, and reads until there are two
// responses to them. The responses are nil if the round could not be sent.
func listBesideRound(t *review.T, f client.Flow) (x besideRound) {
	c := t.Client
	token, _, err := c.Mint(t.Context, f, client.FirstUser)
	if err != nil || c.Take(t.Context) != nil || c.Take(t.Context) != nil {
		return x
	}
	body, round, err := c.NextBody(c.Presenting(f, jsondoc.Quote(token), client.FirstUser))
	next, list, also := c.NextBody(client.ListTools)
	if err != nil || also != nil {
		return x
	}
	x.round, x.list = round, list
	left := 2
	e := c.Lines(t.Context, bytes.Join([][]byte{body, next}, []byte("\n")), func(line []byte) bool {
		if x.isResponse(line) {
			left--
		}
		return left == 0
	})
	t.Trials++
	messages := e.Messages
	if e.Err == nil {
		c.Call(t.Context, client.ListTools) // further responses come before its own
		messages = append(messages, c.Last.Messages...)
	}
	for _, line := range messages {
		if x.isResponse(line) {
			x.responses = append(x.responses, line)
		}
	}
	x.unanswered = e.Err != nil && t.Context.Err() == nil && c.Process != nil && c.Process.Alive()
	return x
}

// isResponse reports whether a line is a response to one of the two requests, or to none that can be told.
func (x besideRound) isResponse(line []byte) bool {
	m := jsondoc.Members(line)
	id := string(m["id"])
	return m["method"] == nil && (m["result"] != nil || m["error"] != nil) && (id == strconv.Itoa(x.round) || id == strconv.Itoa(x.list) || id == "" || id == "null")
}

// issue returns the fault of the responses, or "". Errors are no fault here, and one without an id may
// belong to either request.
func (x besideRound) issue() string {
	var ofRound, ofList [][]byte
	for _, line := range x.responses {
		switch {
		case client.IsAnswer(x.round)(line):
			ofRound = append(ofRound, line)
		case client.IsAnswer(x.list)(line):
			ofList = append(ofList, line)
		default:
			return ""
		}
	}
	switch isList := func(line []byte) bool { return jsondoc.At(line, "result", "tools") != nil }; {
	case len(ofList) > 1 && len(ofRound) == 0:
		return "the response to a last round has the id of a request that was sent while it ran"
	case len(ofRound) > 1 && len(ofList) == 0:
		return "the response to a request that was sent during a last round has the id of that round"
	case len(ofList) > 1 || len(ofRound) > 1:
		return "a request beside another one is answered twice"
	case len(ofList) == 1 && len(ofRound) == 1 && isList(ofRound[0]) && !isList(ofList[0]):
		return "a last round and a request that was sent while it ran have each other's ids in their responses"
	case x.unanswered && len(ofList)+len(ofRound) == 1:
		return "one of two requests at once is not answered"
	}
	return ""
}

// text returns the responses as evidence.
func (x besideRound) text() string {
	var b bytes.Buffer
	for i, line := range x.responses {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(client.Short(string(line), 300))
	}
	return b.String()
}
