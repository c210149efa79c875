package worker

import (
	"fmt"

	"sealab/codecs"
)

// An EventKind says what went wrong with a worker.
type EventKind string

// The kinds of event. After all but Faulted and Lied the process is ended, and
// the next request starts another one.
const (
	Died      EventKind = "died"        // ended, or closed its output, before it answered
	Hung      EventKind = "hung"        // did not answer before the deadline
	Flooded   EventKind = "flooded"     // answered with a line longer than the limit
	OutOfTurn EventKind = "out-of-turn" // wrote a line that nobody had asked for
	Garbage   EventKind = "garbage"     // answered with what the protocol does not have
	Lied      EventKind = "lied"        // cannot do what it said, or presents itself differently
	Faulted   EventKind = "faulted"     // answered that it broke
)

// An Event is one misbehaviour of a worker.
type Event struct {
	Kind EventKind
	// Input is the request that was under way, or that followed, when the
	// misbehaviour showed. Keys are left out of it.
	Input  []byte
	Detail string // for a person
	Stderr string // the last of what the process wrote there, where it ended
}

// A FaultError is the error of a request that came to an Event. It is neither a
// refusal nor codecs.ErrUnsupported; codecs.ErrFault is in its chain.
type FaultError struct {
	Worker string // the name that the worker gave, or its command
	Event  Event
}

// Error names the worker, the kind of event and its detail, not the input.
func (e *FaultError) Error() string {
	return fmt.Sprintf("sealab: worker %s %s: %s", e.Worker, e.Event.Kind, e.Event.Detail)
}

// Unwrap returns codecs.ErrFault.
func (e *FaultError) Unwrap() error { return codecs.ErrFault }

// A breach is an Event in the making: what went wrong, without the input.
type breach struct {
	kind   EventKind
	detail string
}

func (b *breach) Error() string { return string(b.kind) + ": " + b.detail }

func breached(kind EventKind, format string, args ...any) error {
	return &breach{kind, fmt.Sprintf(format, args...)}
}
