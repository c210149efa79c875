// Package client sends the requests of a review. It makes calls of the Model Context Protocol over
// streamable HTTP and standard streams, in the newest revision and in sessions of older ones.
//
// A Client adds the credentials of users, keeps to a rate and a budget of exchanges, and classifies
// answers. It notes facts about all answers and leaves their judgement to the checks.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// A Client sends requests within a rate and a budget, counts them, and notes facts about the
// answers.
type Client struct {
	Target  Target
	HTTP    *rawmcp.HTTP
	Process *rawmcp.Process
	Limits  rawmcp.Limits
	Until   time.Time // no exchange begins after it; zero: no limit
	Clock   Clock
	Claim   *Claim // added to every call; nil: none
	ID      int    // of the last request
	Sent    int    // exchanges
	Unsent  int    // exchanges that did not begin
	Away    bool   // the server was unreachable for the time of a start
	// Older is the revision of a server that does not know the newest one, or "".
	Older string
	// Listing is the honest request that checks alter by default: a list that the server has.
	Listing Call
	Notes

	budget int
	record func(*rawmcp.Exchange)
	next   time.Time        // no exchange begins before it
	pause  time.Duration    // between exchanges; grows at each rate limit
	opened map[User]Session // sessions over HTTP for calls to an older server
}

// Options configures a client.
type Options struct {
	Target Target
	Limits rawmcp.Limits
	Rate   float64 // exchanges a second; 0: no limit
	Budget int     // exchanges
	Clock  Clock
	Record func(*rawmcp.Exchange) // nil: not recorded
}

// New returns a client of a server. It sends no requests and starts no process.
func New(o Options) (*Client, error) {
	c := &Client{
		Target: o.Target, Limits: o.Limits, Clock: o.Clock, Listing: ListTools, Notes: newNotes(),
		budget: o.Budget, record: o.Record, opened: map[User]Session{},
	}
	if o.Rate > 0 {
		c.pause = time.Duration(float64(time.Second) / o.Rate)
	}
	if o.Target.URL == "" {
		return c, nil
	}
	var err error
	if c.HTTP, err = rawmcp.NewHTTP(o.Target.URL, o.Limits); err == nil {
		c.Limits = c.HTTP.Limits // with its defaults
	}
	return c, err
}

// hurryDivisor divides the time limit after a missing answer.
const hurryDivisor = 5

// hasten shortens the time limit over HTTP after an exchange that timed out. A server that hangs
// then costs the full limit only once. The next answer restores the limit.
func (c *Client) hasten(e *rawmcp.Exchange) {
	switch {
	case e.Status != 0:
		c.Unhurried()
	case c.HTTP != nil && errors.Is(e.Err, context.DeadlineExceeded) && e.Took >= c.Limits.Time:
		c.HTTP.Limits.Time = c.Limits.Time / hurryDivisor
	}
}

// Unhurried restores the time limit over HTTP.
func (c *Client) Unhurried() {
	if c.HTTP != nil {
		c.HTTP.Limits.Time = c.Limits.Time
	}
}

// Close stops the process of a server on standard streams.
func (c *Client) Close() {
	if c.Process != nil {
		c.Process.Stop(StopGrace)
		c.Process = nil
	}
}

// LastWords stops the process and describes its output, to explain why it does not answer. It
// returns the first line of standard output that is not JSON and the last line of standard error,
// or "".
func (c *Client) LastWords() string {
	if c.Process == nil {
		return ""
	}
	c.Process.Stop(StopGrace) // standard error is complete once the process has ended
	words := ""
	for line := range bytes.Lines(c.Process.Output()) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !json.Valid(line) {
			words = "; on standard output, which is for JSON-RPC alone: " + Short(string(line), 100)
			break
		}
	}
	lines := strings.Split(strings.TrimSpace(string(c.Process.Stderr())), "\n")
	if last := lines[len(lines)-1]; last != "" {
		words += "; standard error: " + Short(last, 300)
	}
	return words
}

// StopGrace is the time that a process may take to end before it is killed.
const StopGrace = 2 * time.Second

// ErrBudget and ErrTime end a review that has used up its exchanges or its time.
var (
	ErrBudget = errors.New("the budget of exchanges is used up; --budget raises it")
	ErrTime   = errors.New("the time of the review is used up; --time raises it")
)

// Over returns the reason why no exchange may begin, or nil if one may.
func (c *Client) Over() error {
	switch {
	case c.Sent >= c.budget:
		return ErrBudget
	case !c.Until.IsZero() && c.Clock.Now().After(c.Until):
		return ErrTime
	}
	return nil
}

// Left returns the number of exchanges that the budget has left.
func (c *Client) Left() int { return c.budget - c.Sent }

// Take waits until the next exchange may begin and counts it.
func (c *Client) Take(ctx context.Context) error {
	if err := c.Over(); err != nil {
		c.Unsent++
		return err
	}
	if wait := c.next.Sub(c.Clock.Now()); wait > 0 && c.pause > 0 {
		if err := c.Clock.Sleep(ctx, wait); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.Sent++
	c.next = c.Clock.Now().Add(c.pause)
	return nil
}

// maxRetries is the number of times that a request is repeated after a rate limit.
const maxRetries = 6

// Call makes a call and reads the answer. After a rate limit it waits for the time that the server
// names and repeats the call. It retries an unreachable server for the time that a start may take.
func (c *Client) Call(ctx context.Context, call Call) Answer {
	return c.Patiently(ctx, func() Answer {
		a := c.callOnce(ctx, call)
		if a.Status == http.StatusNotFound && c.opened[call.As].ID != "" { // the session has ended
			delete(c.opened, call.As)
			a = c.callOnce(ctx, call)
		}
		c.note(call, a)
		return a
	})
}

// Patiently sends a request and repeats it as long as patience allows.
func (c *Client) Patiently(ctx context.Context, once func() Answer) Answer {
	var waited time.Duration
	for try := 0; ; try++ {
		a := once()
		wait, again := c.patience(a, try, waited)
		if !again {
			return a
		}
		if err := c.Clock.Sleep(ctx, wait); err != nil {
			return a
		}
		waited += wait
	}
}

// patience returns how long to wait before a request is repeated, and whether it is repeated. A
// server that stayed away for the time of a start is not waited for again.
func (c *Client) patience(a Answer, try int, waited time.Duration) (time.Duration, bool) {
	switch unreached := a.Unreached(); {
	case unreached && !c.Away && waited < c.Limits.Start:
		return min(100*time.Millisecond<<min(try, 4), c.Limits.Start-waited), true
	case unreached:
		c.Away = true
		return 0, false
	case try >= maxRetries || a.Kind == NoBudget:
		return 0, false
	case a.Kind == Throttled:
		c.pause = min(max(2*c.pause, 20*time.Millisecond), 2*time.Second)
		wait := time.Second << try
		if a.Exchange != nil {
			if s, err := strconv.Atoi(a.Exchange.Header("Retry-After")); err == nil && s >= 0 {
				wait = time.Duration(s) * time.Second
			}
		}
		return min(wait, maxPatience), true
	default:
		c.Away, c.pause = false, c.pause-c.pause/16 // shrink the pause while no limit is met
		return 0, false
	}
}

// Unreached reports whether the connection to the server failed.
func (a Answer) Unreached() bool {
	return a.Kind == Broken && a.Exchange != nil && a.Exchange.Err != nil && strings.HasPrefix(a.Exchange.Err.Error(), "dialing")
}

// maxPatience is the longest wait between retries after a rate limit.
const maxPatience = time.Minute

func (c *Client) callOnce(ctx context.Context, call Call) Answer {
	if err := c.Take(ctx); err != nil {
		return Answer{Kind: NoBudget, Cause: err}
	}
	headers := c.Headers(ctx, call)
	body, id, err := c.NextBody(call)
	if err != nil {
		return Answer{Kind: Broken, Cause: err}
	}
	body = c.Claim.body(body)
	done := func(message []byte) bool {
		_, ok := findResponse([][]byte{message}, id) // also accepts an error without an ID
		return ok || IsAnswer(id)(message) || c.Older != "" && IsQuestion(message)
	}
	var e *rawmcp.Exchange
	if c.HTTP != nil {
		e = c.HTTP.Do(ctx, rawmcp.Request{Verb: "POST", Path: c.Claim.path(c.HTTP.Path()), Headers: headers, Body: body, Done: done})
	} else {
		e = c.line(ctx, body, done)
	}
	c.Keep(e)
	a := ReadAnswer(e, id)
	if c.Older != "" && a.Kind == Broken && a.Pushes() {
		return c.leftOpen(ctx, call, id, a)
	}
	if (a.Kind == Broken || a.Kind == HTTPError) && e.Err == nil && len(e.Messages) == 1 && c.HTTP != nil {
		return c.ofAnotherID(a)
	}
	return a
}

// Raw sends a request over HTTP once, unchanged.
func (c *Client) Raw(ctx context.Context, r rawmcp.Request) *rawmcp.Exchange {
	if err := c.Take(ctx); err != nil {
		return &rawmcp.Exchange{Err: err}
	}
	e := c.HTTP.Do(ctx, r)
	c.Keep(e)
	return e
}

// line sends a line to the process. It starts the process if necessary.
func (c *Client) line(ctx context.Context, body []byte, done func([]byte) bool) *rawmcp.Exchange {
	if c.Process != nil && !c.Process.Alive() {
		c.Ended++
		c.Close()
	}
	if c.Process == nil {
		p, err := rawmcp.Start(c.Target.Command, c.Limits)
		if err != nil {
			return &rawmcp.Exchange{Sent: body, Err: err}
		}
		c.Process = p
		if c.Older != "" {
			c.Handshake(ctx, p) // the answer to the line shows a failure
		}
	}
	e := c.Process.Do(ctx, body, done)
	if e.Err != nil && c.Lost == nil {
		c.Lost = e
	}
	return e
}

// Lines sends several lines to the process at once and reads until done returns true.
func (c *Client) Lines(ctx context.Context, lines []byte, done func([]byte) bool) *rawmcp.Exchange {
	e := c.line(ctx, lines, done)
	c.Keep(e)
	return e
}

// RawCall sends a body and headers as they are and reads the answer. Over HTTP the call also ends
// at a question of the server, because the server then waits for the client. Over standard streams
// it also ends at an error without an ID.
func (c *Client) RawCall(ctx context.Context, headers []rawmcp.Header, body []byte) Answer {
	var id struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal(body, &id)
	n, err := strconv.Atoi(string(id.ID))
	if err != nil {
		n = -1
	}
	if c.HTTP == nil {
		if err := c.Take(ctx); err != nil {
			return Answer{Kind: NoBudget, Cause: err}
		}
		done := func(message []byte) bool {
			_, ok := findResponse([][]byte{message}, n) // or an error without an ID
			return ok
		}
		return ReadAnswer(c.Lines(ctx, body, done), n)
	}
	done := func(m []byte) bool { return IsAnswer(n)(m) || IsQuestion(m) }
	e := c.Raw(ctx, rawmcp.Request{Verb: "POST", Path: c.HTTP.Path(), Headers: headers, Body: body, Done: done})
	return ReadAnswer(e, n)
}

// Headers returns all headers of a call over HTTP, or nil over standard streams.
func (c *Client) Headers(ctx context.Context, call Call) []rawmcp.Header {
	if c.HTTP == nil {
		return nil
	}
	if c.Older != "" {
		return c.SessionHeaders(c.sessionOf(ctx, call.As), call.As)
	}
	h := append(c.postHeaders(call.As), call.headers()...)
	for _, r := range c.Repeated[call.Target] {
		if value, ok := r.Value(call.Arguments); ok && call.Method == "tools/call" {
			h = append(h, rawmcp.Header{Name: r.Header, Value: headerText(value)})
		}
	}
	return h
}

// A RepeatedArgument is an argument that is repeated in a header (x-mcp-header).
type RepeatedArgument struct {
	path   []string
	Header string
}

// RepeatedArguments returns the arguments of a schema that are repeated in headers.
func RepeatedArguments(raw json.RawMessage, path []string) []RepeatedArgument {
	var all []RepeatedArgument
	for name, s := range jsondoc.Fields(raw) {
		at := append(append([]string(nil), path...), name)
		if header, ok := jsondoc.Text(jsondoc.At(s.Raw, "x-mcp-header")); ok && header != "" {
			all = append(all, RepeatedArgument{at, "Mcp-Param-" + header})
		}
		if len(at) < 6 {
			all = append(all, RepeatedArguments(s.Raw, at)...)
		}
	}
	return all
}

// Value returns the text of the argument for its header. It returns false if the argument is
// absent, null, an object or an array.
func (r RepeatedArgument) Value(arguments json.RawMessage) (string, bool) {
	value := jsondoc.At(arguments, r.path...)
	if text, ok := jsondoc.Text(value); ok {
		return text, true
	}
	return string(value), len(value) > 0 && string(value) != "null" && value[0] != '{' && value[0] != '['
}

// IsText reports whether the argument is a text.
func (r RepeatedArgument) IsText(arguments json.RawMessage) bool {
	_, ok := jsondoc.Text(jsondoc.At(arguments, r.path...))
	return ok
}

// PathWith returns the path of the server with one more query parameter.
func (c *Client) PathWith(name, value string) string {
	return withQuery(c.HTTP.Path(), name+"="+url.QueryEscape(value))
}

// withQuery returns a path with a query added to its own.
func withQuery(path, query string) string {
	if strings.Contains(path, "?") {
		return path + "&" + query
	}
	return path + "?" + query
}

// A Clock tells the time and sleeps. Tests use a fake one.
type Clock struct {
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// SystemClock returns the clock of the machine.
func SystemClock() Clock {
	return Clock{Now: time.Now, Sleep: func(ctx context.Context, d time.Duration) error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
}
