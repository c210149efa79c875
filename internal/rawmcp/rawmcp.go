// Package rawmcp sends requests of the Model Context Protocol exactly as given and records every
// exchange as bytes. It supports streamable HTTP (revisions 2025-03-26 to 2026-07-28) and standard
// input and output.
//
// It writes HTTP requests itself, each over its own connection. Headers may be duplicate or
// missing, the length may be wrong, and the body may be incomplete. It reads responses with
// net/http, which bounds headers and decodes chunks. A stream of server-sent events (HTML Living
// Standard, section 9.2) is read until the caller has its answer.
//
// [Limits] bounds every read in time, bytes and count. Redirects are returned and not followed. The
// package does not judge answers.
package rawmcp

import (
	"bytes"
	"encoding/json"
	"regexp"
	"time"
)

// Limits bounds one exchange.
type Limits struct {
	Time   time.Duration // from the dial to the last byte that is read
	Bytes  int64         // bytes of the response, headers included
	Events int           // events of a stream, or lines of standard output
	// Start replaces Time for the first exchange of a process, which answers only once it has
	// started. If it is 0, Time applies.
	Start time.Duration
}

// orDefault returns the limits with zero values replaced by defaults.
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

// A Header is one line of a request header, written as it is.
type Header struct{ Name, Value string }

// An Exchange is a request and its response.
type Exchange struct {
	Sent     []byte
	Received []byte // as received, at most Limits.Bytes
	Took     time.Duration

	Status  int // HTTP status; 0 if there is no response, and for a process
	Headers map[string][]string
	Body    []byte // decoded; for a stream, the data of its events joined by line feeds
	// Messages holds the JSON-RPC messages of a stream or of standard output. For a plain response
	// it holds the body.
	Messages [][]byte
	Names    []string // names of the events of a stream, one for each message; "" if an event has none
	Stream   bool     // the response was a stream of events
	Cut      bool     // a message was split between several events
	// Mended is set if a plain response contained NaN or Infinity, which is not JSON.
	Mended bool
	Whole  bool // over HTTP: the whole request was written before the exchange ended
	Closed bool // the server closed the connection within the time limit
	// Err is the reason why the exchange ended without a complete response. The bytes before that
	// are kept.
	Err error
}

// Header returns the first value of a response header, or "". The name is in canonical form.
func (e *Exchange) Header(name string) string {
	if v := e.Headers[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// noNumber matches NaN and Infinity, which some languages write but JSON does not allow.
var noNumber = regexp.MustCompile(`([:\[,]\s*)(?:NaN|-?Infinity)`)

// Mended returns a message with NaN and Infinity replaced by null if that makes it JSON. Otherwise
// it returns the message unchanged.
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
