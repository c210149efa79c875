package review_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sealab/fuzz/review/client"
	"sealab/internal/rawmcp"
	"sealab/internal/testenv"
)

// older is a request of an older revision. Empty headers are omitted.
type older struct{ verb, session, version, bearer, origin, host, accept, body string }

const oldCapabilities = `"capabilities":{"elicitation":{"form":{}}},"clientInfo":{"name":"probe","version":"0"}`

func initializing(version string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `",` + oldCapabilities + `}}`
}

func oldCall(method, params string) string {
	return `{"jsonrpc":"2.0","id":2,"method":"` + method + `","params":{` + params + `}}`
}

const oldTools = `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`

// ask sends a request of an older revision and reads until done returns true, or for one message if
// done is nil.
func (a *asker) ask(ctx context.Context, o older, done func([]byte) bool) *rawmcp.Exchange {
	p := &probe{verb: "POST", body: o.body}
	if o.verb != "" {
		p.verb = o.verb
	}
	host, accept, bearer := a.http.Host(), "application/json, text/event-stream", a.bearer
	if o.host != "" {
		host = o.host
	}
	if o.accept != "" {
		accept = o.accept
	}
	if o.bearer != "" {
		bearer = strings.TrimPrefix(o.bearer, "none")
	}
	for _, h := range [][2]string{{"Host", host}, {"Connection", "close"}, {"Content-Type", "application/json"}, {"Accept", accept},
		{"MCP-Protocol-Version", o.version}, {"Mcp-Session-Id", o.session}, {"Origin", o.origin}} {
		if h[1] != "" {
			p.add(h[0], h[1])
		}
	}
	if bearer != "" {
		p.add("Authorization", "Bearer "+bearer)
	}
	if done == nil {
		done = func(m []byte) bool { return json.Valid(m) }
	}
	r := rawmcp.Request{Verb: p.verb, Path: a.http.Path(), Headers: p.headers, Body: []byte(p.body), Done: done, Head: p.verb == "GET"}
	e := a.http.Do(ctx, r)
	if r.Head && !e.Stream { // read the body of a refusal
		r.Head = false
		e = a.http.Do(ctx, r)
	}
	return e
}

// A visit is a session of 2025-11-25.
type visit struct {
	*asker
	id string
}

func (a *asker) visit() visit {
	e := a.ask(context.Background(), older{body: initializing("2025-11-25")}, nil)
	v := visit{a, e.Header("Mcp-Session-Id")}
	v.in(older{body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`})
	return v
}

// request adds the session and its revision to a request.
func (v visit) request(o older) older {
	switch o.session {
	case "":
		o.session = v.id
	case "none":
		o.session = ""
	}
	switch o.version {
	case "":
		o.version = "2025-11-25"
	case "none":
		o.version = ""
	}
	return o
}

func (v visit) in(o older) *rawmcp.Exchange { return v.ask(context.Background(), v.request(o), nil) }

const madeUp = "00000000-0000-4000-8000-000000000000"

// inVisit are the rows of legacy.txt that consist of one request in a session.
var inVisit = map[string]older{
	"notifications/initialized":                   {body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`},
	"tools/list in session":                       {body: oldTools},
	"tools/list without session":                  {session: "none", body: oldTools},
	"tools/list made-up session":                  {session: madeUp, body: oldTools},
	"tools/list session, no version header":       {version: "none", body: oldTools},
	"tools/list version 1999-01-01":               {version: "1999-01-01", body: oldTools},
	"tools/list version 2025-03-26 after 2025-11": {version: "2025-03-26", body: oldTools},
	"tools/list no initialize at all":             {session: "none", version: "none", body: oldTools},
	"initialize again in session":                 {body: initializing("2025-11-25")},
	"tool call":                                   {body: oldCall("tools/call", `"name":"echo","arguments":{"text":"hi"}`)},
	"ping":                                        {body: `{"jsonrpc":"2.0","id":2,"method":"ping"}`},
	"batch":                                       {body: "[" + oldTools + "," + strings.Replace(oldTools, "2,", "3,", 1) + "]"},
	"response to nothing":                         {body: `{"jsonrpc":"2.0","id":99,"result":{}}`},
	"notification unknown":                        {body: `{"jsonrpc":"2.0","method":"notifications/none"}`},
	"origin evil on initialize":                   {session: "none", version: "none", origin: "http://evil.example", body: initializing("2025-11-25")},
	"host evil on initialize":                     {session: "none", version: "none", host: "evil.example", body: initializing("2025-11-25")},
	"GET in session":                              {verb: "GET", accept: "text/event-stream"},
	"GET without session":                         {verb: "GET", session: "none", accept: "text/event-stream"},
	"GET accepting json alone":                    {verb: "GET", accept: "application/json"},
	"requestState given in an old revision":       {body: oldCall("tools/call", `"name":"remove","arguments":{"env":"prod"},"requestState":"garbage"`)},
	"DELETE":                                      {verb: "DELETE"},
	"DELETE made-up":                              {verb: "DELETE", session: madeUp},
	"session of alice with bob's bearer":          {bearer: "bob", body: oldTools},
	"session of alice with no bearer":             {bearer: "none", body: oldTools},
}

// inVisits are the rows that consist of several requests.
var inVisits = map[string]func(t *testing.T, a *asker) string{
	"session ids: distinct, length": func(_ *testing.T, a *asker) string {
		all, lengths, n := map[string]bool{}, map[int]bool{}, 0
		for range 8 {
			if id := a.visit().id; id != "" {
				all[id], lengths[len(id)] = true, true
				n++
			}
		}
		if n == 0 {
			return "0/0 set()"
		}
		var each []string
		for l := range lengths {
			each = append(each, fmt.Sprint(l))
		}
		return fmt.Sprintf("%d/%d {%s}", len(all), n, strings.Join(each, ", "))
	},
	"elicitation pushed over SSE": pushedQuestion,
	"notifications/cancelled":     cancelledCall,
	"tools/list after DELETE": func(_ *testing.T, a *asker) string {
		v := a.visit()
		v.in(older{verb: "DELETE"})
		return class(v.in(older{body: oldTools}))
	},
}

// pushedQuestion calls a tool that asks, listens to the stream of the session, and accepts a
// question from either stream.
func pushedQuestion(_ *testing.T, a *asker) string {
	v := a.visit()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var answered atomic.Bool
	answer := func(m []byte) {
		var q struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(m, &q) == nil && q.Method == "elicitation/create" && !answered.Swap(true) {
			v.in(older{body: `{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":{"action":"accept","content":{"ok":true}}}`})
		}
	}
	if v.id != "" {
		open := make(chan bool, 2) // true when the stream opens, false when it ends
		go func() {
			o := v.request(older{verb: "GET", accept: "text/event-stream"})
			v.listen(ctx, o, func() { open <- true }, func(m []byte) bool { answer(m); return false })
			open <- false
		}()
		select {
		case <-open:
		case <-time.After(2 * time.Second): // some servers send the header with the first event
		}
	}
	return class(v.ask(ctx, v.request(older{body: oldCall("tools/call", `"name":"remove","arguments":{"env":"prod"}`)}), func(m []byte) bool {
		answer(m)
		return isResponse(m)
	}))
}

// listen reads the stream of a session.
func (a *asker) listen(ctx context.Context, o older, opened func(), done func([]byte) bool) {
	headers := []rawmcp.Header{{Name: "Host", Value: a.http.Host()}, {Name: "Accept", Value: o.accept}, {Name: "MCP-Protocol-Version", Value: o.version}, {Name: "Mcp-Session-Id", Value: o.session}}
	if a.bearer != "" {
		headers = append(headers, rawmcp.Header{Name: "Authorization", Value: "Bearer " + a.bearer})
	}
	a.http.Do(ctx, rawmcp.Request{Verb: "GET", Path: a.http.Path(), Headers: headers, Opened: opened, Done: done})
}

func isResponse(m []byte) bool {
	var r struct {
		Result, Error json.RawMessage
		Method        *string
	}
	return json.Unmarshal(m, &r) == nil && r.Method == nil && (r.Result != nil || r.Error != nil)
}

// cancelledCall cancels a slow call. Its cell has the status of the notification and the result of
// the call.
func cancelledCall(t *testing.T, a *asker) string {
	v := a.visit()
	ended := make(chan *rawmcp.Exchange, 1)
	go func() {
		ended <- v.ask(context.Background(), v.request(older{body: oldCall("tools/call", `"name":"slow","arguments":{"ms":1200}`)}), isResponse)
	}()
	if err := client.SystemClock().Sleep(t.Context(), 300*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	told := v.in(older{body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`})
	e := <-ended
	switch got := class(e); {
	case strings.HasSuffix(got, " ok"):
		return fmt.Sprintf("%d %d complete", told.Status, e.Status)
	case strings.HasSuffix(got, " isE"):
		return fmt.Sprintf("%d %d isError %s", told.Status, e.Status, textOf(e))
	case isResponse(slices.Concat(e.Messages...)):
		return got
	default:
		return fmt.Sprintf("%d %s", told.Status, got)
	}
}

// textOf returns the first text of a result, or "".
func textOf(e *rawmcp.Exchange) string {
	var r struct{ Content []struct{ Text string } }
	raw, err := json.Marshal(resultOf(e))
	if err != nil || json.Unmarshal(raw, &r) != nil || len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

// TestLegacyMatrix sends the requests of older revisions to the installed servers.
func TestLegacyMatrix(t *testing.T) {
	testenv.SkipSample(t) // each server takes seconds
	m := readMatrix(t, "legacy")
	for _, column := range m.columns {
		t.Run(column, func(t *testing.T) {
			a := newAsker(t, column)
			answers := map[string]string{}
			for _, row := range m.rows {
				version, negotiates := strings.CutPrefix(row, "initialize: ")
				o, one := inVisit[row]
				switch run := inVisits[row]; {
				case m.cells[[2]string{row, column}] == "-":
				case negotiates:
					e := a.ask(context.Background(), older{body: initializing(version)}, nil)
					answers[row] = fmt.Sprintf("%d %v", e.Status, resultOf(e)["protocolVersion"])
				case run != nil:
					answers[row] = run(t, a)
				case one:
					answers[row] = class(a.visit().in(o))
				}
			}
			m.compare(t, column, answers)
		})
	}
}
