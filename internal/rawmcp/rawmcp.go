// Package rawmcp sends requests of the Model Context Protocol exactly as they
// are given and keeps every exchange as bytes. It speaks streamable HTTP
// (revisions 2025-03-26 to 2026-07-28) and standard input and output.
//
// HTTP requests are written by hand over a connection of their own: headers may
// stand twice or be missing, the length may lie, the body may be half sent.
// Responses are read by net/http, whose reader bounds headers and decodes
// chunks; a stream of server-sent events (HTML Living Standard, section 9.2) is
// read until the caller has its answer.
//
// Every read is bounded in time, bytes and count by [Limits]. Redirects are
// returned and never followed. The package does not judge answers.
package rawmcp

import (
	"bytes"
	"encoding/json"
	"regexp"
	"time"
)

// Limits bound one exchange.
type Limits struct {
	Time   time.Duration // from the dial to the last byte that is read
	Bytes  int64         // bytes of the response, headers included
	Events int           // events of a stream, or lines of standard output
	// Start is the time for the first exchange of a process, in the place of Time: a
	// process answers only when it has started. 0: Time.
	Start time.Duration
}

// orDefault returns the limits with those that are zero replaced.
func (l Limits) orDefault() Limits {
	d := Limits{Time: 15 * time.Second, Bytes: 8 << 20, Events: 1000}
	if l.Time <= 0 {
		l.Time = d.Time
	}
	if l.Bytes <= 0 {
		l.Bytes = d.Bytes
	}
	if l.Events <= 0 {
		l.Events = d.Events
	}
	return l
}

// A Header is one line of a request's header, written as it is.
type Header struct{ Name, Value string }

// An Exchange is one request and all that came back.
type Exchange struct {
	Sent     []byte
	Received []byte // as it came, at most Limits.Bytes
	Took     time.Duration

	Status  int // of HTTP; 0 if there is no response, and on standard output
	Headers map[string][]string
	Body    []byte // decoded; of a stream, the data of its events joined by line feeds
	// Messages are the JSON-RPC messages of a stream or of standard output, one
	// each; of a plain response, its body.
	Messages [][]byte
	Names    []string // of the events of a stream, as many as Messages; "" if one has none
	Stream   bool     // the response was a stream of events
	Cut      bool     // the last message stood in several events
	// Mended is set if a plain response has numbers that JSON has not.
	Mended bool
	Closed bool // the server closed the connection before the limits ended
	// Err is the reason why the exchange ended without a whole response. The
	// bytes before it are kept.
	Err error
}

// Header returns the first value of a header of the response, "" if absent.
// name is in canonical form.
func (e *Exchange) Header(name string) string {
	if v := e.Headers[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// noNumber is a number that some languages write and JSON has not.
var noNumber = regexp.MustCompile(`([:\[,]\s*)(?:NaN|-?Infinity)`)

// Mended returns a message with null in the place of NaN and Infinity if that makes it
// JSON, and the message as it is if not.
func Mended(message []byte) []byte {
	if json.Valid(message) || !noNumber.Match(message) {
		return message
	}
	if all := noNumber.ReplaceAll(message, []byte("${1}null")); json.Valid(all) {
		return all
	}
	return message
}

// recorder keeps the first bytes that are written to it.
type recorder struct {
	bytes.Buffer
	limit int64
}

func (r *recorder) Write(p []byte) (int, error) {
	if room := r.limit - int64(r.Len()); room < int64(len(p)) {
		r.Buffer.Write(p[:max(room, 0)])
	} else {
		r.Buffer.Write(p)
	}
	return len(p), nil
}
