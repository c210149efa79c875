// Package worker implements both ends of the worker protocol, version 1. A
// [Server] serves any design on a pair of streams. A [Client] presents a
// process in any language as a [codecs.Design].
//
// The protocol is JSON Lines in UTF-8: one object per line, one response per
// request, in order. Bytes are base64url without padding in fields whose name
// ends in _b64. Tokens are plain strings. Standard error is free text.
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
// An open request has the ring in order, the time to live in seconds, and the
// options. A client sends a time to live of 600 by default. If it is missing, a
// server uses the design's own default. Codecs ignore it.
//
// A rejection has its stage (malformed, unknown-key, unauthentic, misbound or
// expired) and a reason in the worker's own words. The kind in a hello is codec
// or scheme. A codec has the operations seal and unseal, a scheme has mint and
// verify. The guarantees are properties of package codecs that the design
// claims (true) or disclaims (false).
//
// A binding has the members method, target, arguments, principal and audience.
// Arguments are any JSON and are passed on byte for byte, except that line
// breaks between values become spaces. Null means the same as an absent member.
// Times are Unix seconds with a fraction, exact to a microsecond. A lone
// surrogate in a text is sent as its \u escape; in memory it is three bytes of
// generalized UTF-8. Other bytes that are not UTF-8 cannot be sent: the client
// returns [codecs.ErrUnsupported] without a request.
//
// The abilities:
//
//	clock   the worker takes the time from the request, not from its own clock
//	batch   verify and unseal take "tokens":[...] instead of token and
//	        answer {"ok":true,"verdicts":[...]}, one answer per token, in order
//	bench   {"op":"bench","handle":1,"do":"verify","n":1000, ...the members of do}
//	        does the operation n times and answers {"ok":true,"elapsed_ns":N},
//	        the time that passed inside the worker
//	parallel  several processes of the worker may run side by side
//
// A hello may also have
// "options":[{"name":"...","doc":"...","values":["..."]}], the options that
// open accepts. The first value is the default.
//
// [Limits] bound the time of a request, the length of an answer and the number
// of restarts. A worker that misbehaves causes an [Event] with the input that
// triggered it. The package reads no clock: deadlines are timers, and a bench
// is timed by the clock of the server.
//
// A client may send up to 128 requests before it reads their answers. If a
// worker breaks, the client sends it one request at a time from then on.
//
// The protocol does not number requests. An unrequested line that arrives late
// is read as the answer to the next request. The event follows as soon as there
// are more lines than requests.
//
// Limitations: a worker is not isolated and runs with the rights of its client.
// Times measured through a pipe are not evidence.
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

// A Client runs one worker and restarts it if necessary. It may send several
// requests before it reads their answers, which come in order. It is safe for
// concurrent use.
type Client struct {
	command Command
	limits  Limits
	hello   Hello // of the first process

	mu       sync.Mutex
	process  *process // nil: the next request starts one
	life     int      // number of processes started so far
	restarts int
	events   []Event
	closed   bool
	secrets  secrets // of all rings opened so far
	sent     int     // length in bytes of the longest request
	alone    bool    // a process broke with several requests in flight, so send one at a time
}

// unknownOperation is an operation that does not exist. Every worker gets it
// once and must answer that it is unsupported.
const unknownOperation = "unknown-operation-on-purpose"

// Dial starts the worker and sends hello, then an operation that does not
// exist. If the worker does not answer the latter with unsupported, the client
// records an Event but remains usable.
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

// Hello returns the worker's answer to hello, under the name of its Command if
// that has one.
func (c *Client) Hello() Hello {
	h := c.hello
	if c.command.Name != "" {
		h.Name = c.command.Name
	}
	return h
}

// Has reports whether the worker has the ability.
func (c *Client) Has(a Ability) bool { return slices.Contains(c.hello.Abilities, a) }

// Events returns the events so far.
func (c *Client) Events() []Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.events)
}

// Close ends the worker and waits for it. Later requests are faults.
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

// start starts a process and exchanges hello. c.mu must be held.
func (c *Client) start() error {
	p, err := startProcess(c.command, &c.sent)
	if err != nil {
		return startError{err}
	}
	c.process = p
	c.life++
	sent := newRequest("hello").int("protocol", Version).end()
	limits := c.limits
	limits.Patience = 1 // patience is for requests; Start is long enough for a busy machine
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
		return c.record(newBreach(Lied, "it was %s %s and came back as %s %s",
			c.hello.Name, c.hello.Version, h.Name, h.Version), sent)
	}
	return nil
}

// A startError is the error of a program that did not start.
type startError struct{ error }

// Unwrap returns the cause and codecs.ErrFault.
func (e startError) Unwrap() []error { return []error{e.error, codecs.ErrFault} }

// probe sends the unknown operation. c.mu must be held.
func (c *Client) probe() {
	sent := newRequest(unknownOperation).end()
	data, err := c.process.exchange(sent, c.limits, c.limits.Request)
	if err != nil {
		c.record(err, sent) //nolint:errcheck // recorded, and no obstacle
		return
	}
	if r, err := parseResponse(data, 0); err != nil || !r.Unsupported {
		c.record(newBreach(Lied, "it does not say of an unknown operation that it is unsupported"), sent) //nolint:errcheck // as above
	}
}

// ask sends a request about a number of tokens and returns the response if it
// is ok. The error is a refusal, unsupported, or a *FaultError. c.mu must be
// held.
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

// revive starts a process if none is running. c.mu must be held.
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

// record turns a *breach into an Event and returns its *FaultError, or
// codecs.ErrUnsupported for an answer to a long request that is too long. It
// returns any other error with the secrets that it may quote redacted. c.mu
// must be held.
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
	if b.kind == Flooded && len(input) > answerRoom {
		return fmt.Errorf("%w: %s", codecs.ErrUnsupported, e.Detail)
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
	Resident uint64 // resident now
	Peak     uint64 // maximum resident since the last call of Memory, or since the start
	Mapped   uint64 // maximum address space since the start
}

// Memory returns the memory of the worker's processes and resets Peak. The
// error wraps codecs.ErrUnsupported if the system does not report it, and
// codecs.ErrFault if no process is running.
func (c *Client) Memory() (Memory, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return Memory{}, fmt.Errorf("%w: %s does not run", codecs.ErrFault, c.name())
	}
	return memoryOf(c.process.cmd.Process.Pid)
}

// Work returns the processor time of the worker's processes and their children.
// It decreases when a process has ended. Its errors are those of Memory.
func (c *Client) Work() (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return 0, fmt.Errorf("%w: %s does not run", codecs.ErrFault, c.name())
	}
	return workOf(c.process.cmd.Process.Pid, true)
}
