package worker

import (
	"bytes"
	"fmt"

	"sealab/codecs"
)

// An EventKind is a kind of fault of a worker.
type EventKind string

// The kinds of event. After all but Faulted and Lied the process is ended, and
// the next request starts another one.
const (
	Died      EventKind = "died"        // ended, or closed its output, before it answered
	Hung      EventKind = "hung"        // did not answer before the deadline
	Flooded   EventKind = "flooded"     // answered with a line longer than the limit
	OutOfTurn EventKind = "out-of-turn" // wrote a line without a request
	Garbage   EventKind = "garbage"     // answered with a line that the protocol does not have
	Lied      EventKind = "lied"        // lacks an ability that it named, or changed its name
	Faulted   EventKind = "faulted"     // answered that it broke
)

// BreaksProtocol reports whether the answers of the worker cannot be relied on,
// because it broke the protocol in answer to a question. To end, to hang and to
// answer with a fault does not break it. Nor does a wrong answer to the unknown
// operation that a client sends first.
func (e *Event) BreaksProtocol() bool {
	switch e.Kind {
	case Flooded, OutOfTurn, Garbage, Lied:
		return !bytes.Contains(e.Input, []byte(unknownOperation))
	default:
		return false
	}
}

// An Event is one misbehaviour of a worker.
type Event struct {
	Kind EventKind
	// Input is the request that was under way, or that followed, when the
	// misbehaviour showed, without its keys.
	Input []byte
	// Detail describes the event. Stderr is the end of the standard error of a
	// process that ended. Secrets that the client opened are replaced in both.
	Detail, Stderr string
}

// A FaultError is the error of a request that came to an Event. It is neither a
// refusal nor codecs.ErrUnsupported; codecs.ErrFault is in its chain.
type FaultError struct {
	Worker string // the name that the worker gave, or its command
	Event  Event
}

// Error names the worker, the kind of event and its detail, not the input.
func (e *FaultError) Error() string {
	return fmt.Sprintf("worker %q %s: %s", e.Worker, e.Event.Kind.verb(), e.Event.Detail)
}

// verb returns the kind as a sentence says it.
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

// A breach is an Event in the making: the misbehaviour without the input.
type breach struct {
	kind   EventKind
	detail string
	// quote is text of the worker, whole: it is searched for secrets before it is
	// shortened.
	quote []byte
}

func (b *breach) Error() string { return string(b.kind) + ": " + b.describe(nil) }

// The longest quotes in the detail of an event, in characters.
const (
	maxQuote = 80
	maxFault = 200
)

// describe returns the detail of the event, without the given secrets.
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

func breached(kind EventKind, format string, args ...any) error {
	return &breach{kind: kind, detail: fmt.Sprintf(format, args...)}
}

// quoting is breached with the text of the worker that broke the protocol.
func quoting(quote []byte, kind EventKind, format string, args ...any) error {
	return &breach{kind, fmt.Sprintf(format, args...), append([]byte{}, quote...)}
}
