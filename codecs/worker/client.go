// Package worker speaks the worker protocol, version 1, at both ends: a
// [Server] serves any design on a pair of streams, and a [Client] makes a
// process in any language look like a [codecs.Design].
//
// The protocol is JSON Lines in UTF-8: one object a line, one response per
// request, in order. Bytes are base64url without padding in fields whose name
// ends in _b64; tokens are plain strings; standard error is free text.
//
//	{"op":"hello","protocol":1}
//	  -> {"ok":true,"protocol":1,"name":"mcp-ts","version":"2.4.0","kind":"scheme",
//	      "abilities":["clock","batch"],"guarantees":{"integrity":true,"single-use":false}}
//	{"op":"open","keys_b64":["..."],"ttl":600,"options":{"name":"value"}}
//	  -> {"ok":true,"handle":1} | {"ok":false,"refused":"why"}
//	{"op":"mint","handle":1,"now":1795132800.25,"state_b64":"...","binding":{...}}
//	  -> {"ok":true,"token":"..."}
//	{"op":"verify","handle":1,"now":1795132800.25,"token":"...","binding":{...}}
//	  -> {"ok":true,"state_b64":"..."} | {"ok":false,"rejected":"unauthentic","reason":"mac"}
//	{"op":"seal","handle":1,"payload_b64":"..."}  -> {"ok":true,"token":"..."}
//	{"op":"unseal","handle":1,"token":"..."}      -> {"ok":true,"payload_b64":"..."} | rejected
//	{"op":"close","handle":1}                     -> {"ok":true}
//	anything else                                 -> {"ok":false,"unsupported":true}
//	the worker itself broke                       -> {"ok":false,"fault":"text"}
//
// An open has the ring in order, the time to live in seconds and the options. The
// time to live is 600 by default. A server reads an open without
// it as the design's own default. Codecs ignore the time to live.
//
// A rejection names its stage (malformed, unknown-key, unauthentic, misbound or
// expired) and a reason in the worker's words. The kind of a hello is codec or
// scheme: a codec has seal and unseal, a scheme mint and verify. Its guarantees are
// properties of package codecs that the design claims (true) or disclaims (false).
//
// A binding has the members method, target, arguments (any JSON, passed on byte for
// byte, except that line breaks between values become spaces), principal and
// audience. Null means the same as an absent member. Times are Unix
// seconds with a fraction and carry microseconds. A lone surrogate in a text crosses
// as its \u escape; the laboratory holds it as three bytes of generalised UTF-8.
// Other bytes that are not UTF-8 cannot cross: they are [codecs.ErrUnsupported], and
// no request is made.
//
// The abilities:
//
//	clock   the worker takes the time from the request and not from its own clock
//	batch   verify and unseal take "tokens":[...] instead of token and
//	        answer {"ok":true,"verdicts":[...]}, one answer per token, in order
//	bench   {"op":"bench","handle":1,"do":"verify","n":1000, ...the members of do}
//	        does the operation n times and answers {"ok":true,"elapsed_ns":N},
//	        the time that passed inside the worker
//	parallel  several processes of the worker may run side by side
//
// A hello may also carry "options":[{"name":"...","doc":"...","values":["..."]}],
// the choices that open takes; the first value is the default.
//
// Limits: a request has a deadline, an answer a longest line, a client a number of
// restarts; see [Limits]. A breach is an [Event] with the input that caused it. The
// package reads no clock: deadlines are timers, and a bench is timed by the clock
// that the server was given.
//
// A client may send up to 128 requests before it reads their answers. It gives a worker
// that breaks then one request at a time.
//
// The protocol does not number requests. A late line that was not requested is read
// as the answer to the next request. The event follows as soon as there is one line
// more than there were requests.
//
// Limitations: there is no isolation; a worker runs with the rights of the
// laboratory. Timing through a pipe is never a verdict.
package worker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"sealab/codecs"
)

// A Client keeps one worker alive. It may send several requests before it reads the
// answers, which come in order. It is safe for concurrent use.
type Client struct {
	command Command
	limits  Limits
	hello   Hello // of the first process

	mu       sync.Mutex
	process  *process // nil: the next request starts one
	life     int      // counts the processes
	restarts int
	events   []Event
	closed   bool
	secrets  secrets // of the rings that were opened
	sent     int     // length in bytes of the longest request
	alone    bool    // a process broke with several requests in flight
}

// unknownOperation is sent to every worker once, which has to answer that it
// does not support it.
const unknownOperation = "unknown-operation-on-purpose"

// Dial starts the worker and sends hello. It also sends one operation that does not
// exist. If the worker answers that with anything but unsupported, the client
// records an Event and can be used all the same.
func Dial(command Command, limits Limits) (*Client, error) {
	c := &Client{command: command, limits: limits.withDefaults()}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.start(); err != nil {
		return nil, err
	}
	c.probe()
	return c, nil
}

// Hello returns how the worker presented itself, under the name of its Command if that
// has one.
func (c *Client) Hello() Hello {
	h := c.hello
	if c.command.Name != "" {
		h.Name = c.command.Name
	}
	return h
}

// Has reports whether the worker has the ability.
func (c *Client) Has(a Ability) bool { return slices.Contains(c.hello.Abilities, a) }

// Events returns the misbehaviours so far.
func (c *Client) Events() []Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.events)
}

// Close ends the worker and waits for it. Requests after it are faults.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.process != nil {
		c.process.retire(c.limits)
		c.process = nil
	}
	return nil
}

// start starts a process and greets it. c.mu is held.
func (c *Client) start() error {
	p, err := start(c.command, &c.sent)
	if err != nil {
		return fmt.Errorf("%w (%w)", err, codecs.ErrFault)
	}
	c.process = p
	c.life++
	sent := operation("hello").int("protocol", Version).end()
	limits := c.limits
	limits.Patience = 1 // it is for requests; Start is long enough for a busy machine
	data, err := p.exchange(sent, limits, limits.Start)
	if err != nil {
		return c.record(err, sent)
	}
	h, err := parseHello(data)
	if err != nil {
		return c.record(err, sent)
	}
	if c.life == 1 {
		c.hello = h
	}
	if h.Name != c.hello.Name || h.Version != c.hello.Version || h.Kind != c.hello.Kind {
		p.end()
		c.process = nil
		return c.record(breached(Lied, "it was %s %s and came back as %s %s",
			c.hello.Name, c.hello.Version, h.Name, h.Version), sent)
	}
	return nil
}

// probe sends the unknown operation. c.mu is held.
func (c *Client) probe() {
	sent := operation(unknownOperation).end()
	data, err := c.process.exchange(sent, c.limits, c.limits.Request)
	if err != nil {
		c.record(err, sent) //nolint:errcheck // recorded, and no obstacle
		return
	}
	if r, err := parseResponse(data, 0); err != nil || !r.Unsupported {
		c.record(breached(Lied, "it does not say of an unknown operation that it is unsupported"), sent) //nolint:errcheck // as above
	}
}

// ask sends a request about a number of tokens and returns the response, which
// is ok. c.mu is held. The error is that of the outcome: refusal, unsupported, or
// *FaultError.
func (c *Client) ask(l *line, tokens int) (*response, error) {
	if l.err != nil {
		return nil, l.err
	}
	sent := l.end()
	data, err := c.process.exchange(sent, c.limits, c.limits.Request)
	if err != nil {
		return nil, c.record(err, sent)
	}
	r, err := parseResponse(data, tokens)
	if err == nil {
		err = r.outcome()
	}
	return r, c.record(err, sent)
}

// revive makes sure that there is a process. c.mu is held.
func (c *Client) revive() error {
	switch {
	case c.closed:
		return fmt.Errorf("%w: %s is closed", codecs.ErrFault, c.name())
	case c.process != nil:
		return nil
	case c.restarts >= c.limits.Restarts:
		return fmt.Errorf("%w: %s was started %d times and ended each time", codecs.ErrFault, c.name(), c.life)
	}
	c.restarts++
	return c.start()
}

// record makes an Event of a *breach and returns its *FaultError. It returns
// any other error as it is, without the secrets that a worker may have quoted.
// c.mu is held.
func (c *Client) record(err error, input []byte) error {
	b, ok := errors.AsType[*breach](err)
	if !ok {
		return c.secrets.redacted(err)
	}
	e := Event{Kind: b.kind, Detail: b.describe(&c.secrets), Input: withoutKeys(input)}
	if b.kind != Faulted && b.kind != Lied {
		status := c.process.end()
		e.Stderr = c.process.stderr.without(&c.secrets)
		c.process = nil
		if b.kind == Died {
			e.Detail += ": " + status
		}
	}
	c.events = append(c.events, e)
	return &FaultError{Worker: c.name(), Event: e}
}

// name returns the name of the worker for errors.
func (c *Client) name() string {
	if name := c.Hello().Name; name != "" {
		return name
	}
	return strings.Join(c.command.Args, " ")
}

// Memory is the memory of a worker's processes and their children, in bytes.
type Memory struct {
	Resident uint64 // in memory now
	Peak     uint64 // in memory at most since Memory was last asked, or since the start
	Mapped   uint64 // addresses at most since the start, touched or not
}

// Memory returns the memory of the worker's processes, and begins a new peak. Its
// error has codecs.ErrUnsupported in its chain if the system does not tell, and
// codecs.ErrFault if no process runs.
func (c *Client) Memory() (Memory, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return Memory{}, fmt.Errorf("%w: %s does not run", codecs.ErrFault, c.name())
	}
	return memoryOf(c.process.cmd.Process.Pid)
}

// Work returns the processor time of the worker's processes and their children. It is
// less than before after a process has ended. Its error is as that of Memory.
func (c *Client) Work() (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return 0, fmt.Errorf("%w: %s does not run", codecs.ErrFault, c.name())
	}
	return workOf(c.process.cmd.Process.Pid, true)
}
