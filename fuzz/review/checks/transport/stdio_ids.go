package transport

import (
	"bytes"
	"fmt"
	"strconv"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

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
