package worker

import (
	"bytes"
	"fmt"

	"sealab/codecs"
)

// An EventKind is a kind of misbehavior of a worker.
type EventKind string

// The kinds of event. After all but Faulted and Lied the client kills the
// process and starts another one for the next request.
const (
	Died      EventKind = "died"        // exited, or closed its output, before it answered
	Hung      EventKind = "hung"        // did not answer before the deadline
	Flooded   EventKind = "flooded"     // answered with a line longer than the limit
	OutOfTurn EventKind = "out-of-turn" // wrote a line without a request
	Garbage   EventKind = "garbage"     // answered with a line that breaks the protocol
	Lied      EventKind = "lied"        // lacks a claimed ability, or changed its name
	Faulted   EventKind = "faulted"     // answered with a fault
)

// BreaksProtocol reports whether the worker broke the protocol, so that its
// answers cannot be relied on. Exiting, hanging and answering with a fault do
// not count. Nor does a wrong answer to the unknown operation that a client
// sends first.
func (e *Event) BreaksProtocol() bool {
	switch e.Kind {
	case Flooded, OutOfTurn, Garbage, Lied:
		return !bytes.Contains(e.Input, []byte(unknownOperation))
	default:
		return false
	}
}

// An Event is one misbehavior of a worker.
type Event struct {
	Kind EventKind
	// Input is the current or next request when the event was noticed, without
	// its keys.
	Input []byte
	// Detail describes the event. Stderr is the end of the standard error of an
	// ended process. Secrets that the client sent are redacted in both.
	Detail, Stderr string
}

// A FaultError is the error of a request that caused an Event. It wraps
// codecs.ErrFault and is neither a refusal nor codecs.ErrUnsupported.
type FaultError struct {
	Worker string // the name that the worker gave, or its command
	Event  Event
}

// Error returns the worker, the kind of event and its detail, but not the
// input.
func (e *FaultError) Error() string {
	return fmt.Sprintf("worker %q %s: %s", e.Worker, e.Event.Kind.verb(), e.Event.Detail)
}

// verb returns the kind as the predicate of an error message.
func (k EventKind) verb() string {
	switch k {
	case Died, Hung:
		return string(k)
	case Faulted:
		return "reported a fault"
	default:
		return "broke the protocol"
	}
}

// Unwrap returns codecs.ErrFault.
func (e *FaultError) Unwrap() error { return codecs.ErrFault }

// A breach is a misbehavior before its Event is made. It lacks the input.
type breach struct {
	kind   EventKind
	detail string
	// quote is the complete text of the worker. It is searched for secrets
	// before it is shortened.
	quote []byte
}

func (b *breach) Error() string { return string(b.kind) + ": " + b.describe(nil) }

// The maximum lengths of quotes in the detail of an event, in characters.
const (
	maxQuote = 80
	maxFault = 200
)

// describe returns the detail of the event, with the secrets redacted.
func (b *breach) describe(s *secrets) string {
	quote := s.redact(string(b.quote))
	switch {
	case b.quote == nil:
		return s.redact(b.detail)
	case b.kind == Faulted:
		return fmt.Sprintf("%.*s", maxFault, quote)
	default:
		return s.redact(b.detail) + fmt.Sprintf(": %.*q", maxQuote, quote)
	}
}

func newBreach(kind EventKind, format string, args ...any) error {
	return &breach{kind: kind, detail: fmt.Sprintf(format, args...)}
}

// newQuotedBreach returns a *breach with the text that the worker wrote.
func newQuotedBreach(quote []byte, kind EventKind, format string, args ...any) error {
	return &breach{kind, fmt.Sprintf(format, args...), append([]byte{}, quote...)}
}
