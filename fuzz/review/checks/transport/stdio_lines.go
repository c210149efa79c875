package transport

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// lineChecks are the checks of hostile lines on standard input, each of which gets its own process,
// and of the answers to lines.
var lineChecks = []review.Check{
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
}

// malformedLines returns lines that are not requests, by name.
func malformedLines(effects bool) map[string]string {
	all := map[string]string{
		"no JSON": "this is not JSON", "a number": "1", "NUL": "{\"a\":\"\x00\"}", "invalid UTF-8": "{\"jsonrpc\":\"2.0\",\"method\":\"\xff\xfe\"}",
		"an empty line": "", "CR LF": "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\r", "an empty batch": "[]",
		"half a surrogate pair": `{"jsonrpc":"2.0","method":"notifications/\ud800"}`, "10,000 nested arrays": strings.Repeat("[", 10000),
		"100 KB": strings.Repeat("x", 100_000), "half an object": `{"jsonrpc":"2.0","id":"sealab`,
	}
	if effects {
		all["3 MB"] = strings.Repeat("x", 3<<20)
	}
	return all
}

// lineSeparators are characters at which some libraries end a line. JSON strings may contain them
// unescaped (RFC 8259, section 7).
var lineSeparators = []string{"\u2028", "\u2029", "\u0085"}

// sendLineSeparators sends requests with such a character in the name of the client. It records a
// finding if one is not answered, and the same request with an escape is.
func sendLineSeparators(t *review.T) {
	for _, end := range lineSeparators {
		name := fmt.Sprintf("%U in a text", []rune(end)[0])
		if !t.Selected(name) || len(t.Findings) > 0 {
			continue
		}
		p := t.ProcessWithin(answerWait)
		if p == nil {
			return
		}
		in := func(text string) func([]byte) []byte {
			return func(body []byte) []byte {
				return bytes.Replace(body, []byte("sealab-review"), []byte("sealab"+text+"review"), 1)
			}
		}
		whole := sendLine(t, p, in(fmt.Sprintf(`\u%04x`, []rune(end)[0])))
		if a := sendLine(t, p, in(end)); client.Served(whole) && !client.Served(a) && a.Kind != client.NoBudget {
			t.Refute(review.Finding{Case: name, Severity: review.Warning, Issue: "a line is ended at " + name,
				Evidence: fmt.Sprintf("%s; escaped: %v", review.ExchangeText(a), whole), Want: "answered", Got: string(client.Broken)})
		}
		p.Stop(client.StopGrace)
	}
}

// shortPause is the time between the parts of a line, and after a line that needs no answer.
const shortPause = 50 * time.Millisecond

// sendLineInParts sends a request in two parts with a pause between them. It records a finding if
// the request is not answered, twice, although undivided ones are.
func sendLineInParts(t *review.T) {
	const name = "a line in two parts"
	if !t.Selected(name) {
		return
	}
	for range 2 {
		p := t.ProcessWithin(answerWait)
		if p == nil {
			return
		}
		defer p.Stop(client.StopGrace)
		parted := sendLine(t, p, func(body []byte) []byte {
			if p.Part(t.Context, body[:len(body)/2]) != nil || client.SystemClock().Sleep(t.Context, shortPause) != nil {
				return body
			}
			return body[len(body)/2:]
		})
		if client.Served(parted) || !client.Served(sendLine(t, p, bytes.Clone)) {
			return
		}
		if parted.Kind == client.Broken || parted.Kind == client.Failed {
			continue
		}
		return
	}
	t.Refute(review.Finding{Case: name, Severity: review.Warning, Issue: "a request that comes in two parts is not served",
		Evidence: fmt.Sprintf("tools/list, %v between its halves: no result, twice; whole: served", shortPause), Want: "answered", Got: string(client.Broken)})
}

func checkMalformedLines(t *review.T) {
	all := malformedLines(t.Options.Effects)
	if !t.Selected("lines") {
		clear(all)
	}
	var dead []string
	var evidence string
	for name, line := range jsondoc.InOrder(all) {
		p := t.Process()
		if p == nil {
			return
		}
		e := p.Do(t.Context, []byte(line), nil)
		t.Client.Keep(e)
		t.Trials++
		if reason := t.Pings(p); reason != "" {
			dead = append(dead, name)
			if !p.Alive() {
				reason = fmt.Sprintf("%s; the process ended: %v; standard error: %s", reason, p.State(), client.Short(string(p.Stderr()), 200))
			}
			evidence = fmt.Sprintf("line %s, then an honest request: %s", client.Short(line, 60), reason)
		} else if len(t.Findings) == 0 {
			judgeLines(t, p.Output(), name)
		}
		p.Stop(client.StopGrace)
	}
	if t.Modern() {
		sendLineSeparators(t)
		sendLineInParts(t)
	}
	if len(dead) > 0 {
		t.Refute(review.Finding{Case: "lines", Severity: review.Warning, Issue: "the server does not answer after " + strings.Join(dead, ", "), Evidence: evidence, Want: "answered", Got: "broken"})
	}
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
