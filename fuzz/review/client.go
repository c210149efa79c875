package review

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sealab/internal/rawmcp"
)

// A client sends requests within a rate and a budget, and counts them.
type client struct {
	target  Target
	http    *rawmcp.HTTP
	process *rawmcp.Process
	limits  rawmcp.Limits
	rate    float64 // exchanges a second; 0: unlimited
	budget  int
	until   time.Time // no exchange begins after; zero: no limit
	unsent  int       // exchanges that were not begun
	clock   Clock
	record  func(*rawmcp.Exchange)

	sent  int
	id    int
	next  time.Time     // no exchange begins before
	pause time.Duration // between exchanges, grown by rate limits
	waits int           // rate limits that were met
	away  bool          // the server was not reached for as long as a start may take
	ran   int           // tools that ran to their end
	ended int           // processes that ended by themselves
	last  *rawmcp.Exchange
	lost  *rawmcp.Exchange // the first one of a check without a response
	codes map[int]string   // error codes that were seen, each with its first message
	given []string         // ids of sessions
	// minted are the questions beside tokens, and newest those beside the last token.
	minted map[string]map[string]Question
	keys   map[string]int // of questions, each with the number of questions
	newest map[string]Question
	trace  string            // the first stack trace or path in an error
	notice string            // the longest run of notifications that were not asked for
	noisy  int               // its length
	odd    map[string]string // responses of another form, by their fault
	// sentIDs and gotIDs count requests and responses by id, over standard streams.
	sentIDs, gotIDs map[string]int
	// uncached is the first result of a call whose members for caches have another form.
	uncached   Answer
	uncachedBy string
	// shared is the first answer of one user that shared caches may keep.
	shared   Answer
	sharedBy string
	// repeated are the arguments that headers repeat, by tool.
	repeated map[string][]repeatedArgument
	claim    *userClaim // of every call, nil for none
	// older is the revision of a server that does not know the newest one, "" if it does, and
	// opened are the sessions over HTTP in which its calls are made.
	older  string
	opened map[user]session
}

// A Clock tells and passes time. Tests have one of their own.
type Clock struct {
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// SystemClock is the clock of the machine.
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

func newClient(o Options) (*client, error) {
	c := &client{target: o.Target, minted: map[string]map[string]Question{}, keys: map[string]int{}, codes: map[int]string{}, odd: map[string]string{}, sentIDs: map[string]int{}, gotIDs: map[string]int{}, repeated: map[string][]repeatedArgument{}, opened: map[user]session{}, limits: o.Limits, rate: o.Rate, budget: o.Budget, clock: o.Clock, record: o.Record}
	if o.Rate > 0 {
		c.pause = time.Duration(float64(time.Second) / o.Rate)
	}
	if o.Target.URL == "" {
		return c, nil
	}
	var err error
	c.http, err = rawmcp.NewHTTP(o.Target.URL, o.Limits)
	return c, err
}

// close ends the process of a server on standard streams.
func (c *client) close() {
	if c.process != nil {
		c.process.Stop(stopGrace)
		c.process = nil
	}
}

// lastWords is the end of standard error of a process that does not answer, "" if it is
// silent there.
func (c *client) lastWords() string {
	if c.process == nil {
		return ""
	}
	c.process.Stop(stopGrace) // all of standard error has been read when it has ended
	lines := strings.Split(strings.TrimSpace(string(c.process.Stderr())), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return "; standard error: " + short(last, 300)
	}
	return ""
}

const stopGrace = 2 * time.Second

// errBudget and errTime end a review that has used up its exchanges or its time.
var (
	errBudget = errors.New("the budget of exchanges is used up; --budget raises it")
	errTime   = errors.New("the time of the review is used up; --time raises it")
)

// over is the reason why no exchange may begin, nil if one may.
func (c *client) over() error {
	switch {
	case c.sent >= c.budget:
		return errBudget
	case !c.until.IsZero() && c.clock.Now().After(c.until):
		return errTime
	}
	return nil
}

// take waits for the turn of an exchange and counts it.
func (c *client) take(ctx context.Context) error {
	if err := c.over(); err != nil {
		c.unsent++
		return err
	}
	if wait := c.next.Sub(c.clock.Now()); wait > 0 && c.pause > 0 {
		if err := c.clock.Sleep(ctx, wait); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.sent++
	c.next = c.clock.Now().Add(c.pause)
	return nil
}

// retries is how often a request is sent again that a rate limit refused.
const retries = 6

// call sends a call and reads the answer. A server that limits the rate is asked
// again after the time that it names; one that cannot be reached, as long as a start
// may take.
func (c *client) call(ctx context.Context, call Call) Answer {
	return c.patiently(ctx, func() Answer {
		a := c.callOnce(ctx, call)
		if a.Status == http.StatusNotFound && c.opened[call.as].id != "" { // the session has ended
			delete(c.opened, call.as)
			a = c.callOnce(ctx, call)
		}
		c.note(call, a)
		return a
	})
}

// patiently sends a request, and again as long as patience allows.
func (c *client) patiently(ctx context.Context, once func() Answer) Answer {
	var waited time.Duration
	for try := 0; ; try++ {
		a := once()
		wait, again := c.patience(a, try, waited)
		if !again {
			return a
		}
		if err := c.clock.Sleep(ctx, wait); err != nil {
			return a
		}
		waited += wait
	}
}

// patience returns how long to wait before a request is sent again, and whether
// it is. A server that stayed away for a whole start is not waited for again.
func (c *client) patience(a Answer, try int, waited time.Duration) (time.Duration, bool) {
	switch unreached := a.unreached(); {
	case unreached && !c.away && waited < c.limits.Start:
		return min(100*time.Millisecond<<min(try, 4), c.limits.Start-waited), true
	case unreached:
		c.away = true
		return 0, false
	case try >= retries || a.Kind == noBudget:
		return 0, false
	case a.Kind == throttled:
		c.waits++
		c.pause = min(max(2*c.pause, 20*time.Millisecond), 2*time.Second)
		wait := time.Second << try
		if a.Exchange != nil {
			if s, err := strconv.Atoi(a.Exchange.Header("Retry-After")); err == nil && s >= 0 {
				wait = time.Duration(s) * time.Second
			}
		}
		return min(wait, maxPatience), true
	default:
		c.away, c.pause = false, c.pause-c.pause/16 // a limit that is not met again
		return 0, false
	}
}

// unreached reports whether no connection to the server was opened.
func (a Answer) unreached() bool {
	return a.Kind == broken && a.Exchange != nil && a.Exchange.Err != nil && strings.HasPrefix(a.Exchange.Err.Error(), "dialing")
}

// maxPatience is the longest wait that a server can ask for.
const maxPatience = time.Minute

func (c *client) callOnce(ctx context.Context, call Call) Answer {
	if err := c.take(ctx); err != nil {
		return Answer{Kind: noBudget, Cause: err}
	}
	headers := c.callHeaders(ctx, call)
	c.id++
	id := c.id
	body, err := c.body(call, id)
	if err != nil {
		return Answer{Kind: broken, Cause: err}
	}
	body = c.claim.body(body)
	done := func(message []byte) bool {
		_, ok := response([][]byte{message}, id) // also an error without an id
		return ok || isAnswer(id)(message) || c.older != "" && isQuestion(message)
	}
	var e *rawmcp.Exchange
	if c.http != nil {
		e = c.http.Do(ctx, rawmcp.Request{Verb: "POST", Path: c.claim.path(c.http.Path()), Headers: headers, Body: body, Done: done})
	} else {
		e = c.line(ctx, body, done)
	}
	c.kept(e)
	a := read(e, id)
	if c.older != "" && a.Kind == broken && a.pushes() {
		return c.leftOpen(ctx, call, id, a)
	}
	if (a.Kind == broken || a.Kind == httpError) && e.Err == nil && len(e.Messages) == 1 && c.http != nil {
		return c.ofAnotherID(a)
	}
	return a
}

// raw sends a request over HTTP as it stands, once.
func (c *client) raw(ctx context.Context, r rawmcp.Request) *rawmcp.Exchange {
	if err := c.take(ctx); err != nil {
		return &rawmcp.Exchange{Err: err}
	}
	e := c.http.Do(ctx, r)
	c.kept(e)
	return e
}

// line sends a line to the process, which it starts if necessary.
func (c *client) line(ctx context.Context, body []byte, done func([]byte) bool) *rawmcp.Exchange {
	if c.process != nil && !c.process.Alive() {
		c.ended++
		c.close()
	}
	if c.process == nil {
		p, err := rawmcp.Start(c.target.Command, c.limits)
		if err != nil {
			return &rawmcp.Exchange{Sent: body, Err: err}
		}
		c.process = p
		if c.older != "" {
			c.handshake(ctx, p) // a failure shows in the answer to the line
		}
	}
	e := c.process.Do(ctx, body, done)
	if e.Err != nil && c.lost == nil {
		c.lost = e
	}
	return e
}

// rawCall is a call that a check sends with a body or headers of its own. It ends
// at a question of the server as well, which waits for the client.
func (c *client) rawCall(ctx context.Context, headers []rawmcp.Header, body []byte) Answer {
	var id struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal(body, &id)
	n, err := strconv.Atoi(string(id.ID))
	if err != nil {
		n = -1
	}
	if c.http == nil {
		if err := c.take(ctx); err != nil {
			return Answer{Kind: noBudget, Cause: err}
		}
		e := c.line(ctx, body, isAnswer(n))
		c.kept(e)
		return read(e, n)
	}
	done := func(m []byte) bool { return isAnswer(n)(m) || isQuestion(m) }
	e := c.raw(ctx, rawmcp.Request{Verb: "POST", Path: c.http.Path(), Headers: headers, Body: body, Done: done})
	return read(e, n)
}

// callHeaders are all headers of a call over HTTP, nil over standard streams.
func (c *client) callHeaders(ctx context.Context, call Call) []rawmcp.Header {
	if c.http == nil {
		return nil
	}
	if c.older != "" {
		return c.sessionHeaders(c.sessionOf(ctx, call.as), call.as)
	}
	h := append(c.hostHeaders(call.as), call.headers()...)
	for _, r := range c.repeated[call.Target] {
		if value, ok := r.value(call.Arguments); ok && call.Method == "tools/call" {
			h = append(h, rawmcp.Header{Name: r.header, Value: headerText(value)})
		}
	}
	return h
}

// A repeatedArgument is an argument that a header repeats (x-mcp-header).
type repeatedArgument struct {
	path   []string
	header string
}

// repeatedIn returns the arguments of a schema that headers repeat.
func repeatedIn(raw json.RawMessage, path []string) []repeatedArgument {
	var all []repeatedArgument
	properties := parseSchema(raw).Properties
	for _, name := range sortedKeys(properties) {
		at := append(append([]string(nil), path...), name)
		var header string
		if json.Unmarshal(members(properties[name])["x-mcp-header"], &header) == nil && header != "" {
			all = append(all, repeatedArgument{at, "Mcp-Param-" + header})
		}
		if len(at) < 6 {
			all = append(all, repeatedIn(properties[name], at)...)
		}
	}
	return all
}

// value returns the argument as the header has it; false if it is absent.
func (r repeatedArgument) value(arguments json.RawMessage) (string, bool) {
	for _, name := range r.path {
		arguments = members(arguments)[name]
	}
	var text string
	switch {
	case len(arguments) == 0 || string(arguments) == "null" || arguments[0] == '{' || arguments[0] == '[':
		return "", false
	case json.Unmarshal(arguments, &text) == nil:
		return text, true
	}
	return string(arguments), true
}
