package boundary

import (
	"context"
	"time"

	"sealab/codecs"
)

// An Operation is one of the two that an Observer sees.
type Operation string

// The operations.
const (
	Mint   Operation = "mint"
	Verify Operation = "verify"
)

// An Event is the end of an operation. It holds no token, state or principal.
type Event struct {
	Outcome   Outcome
	Token     int           // length in bytes
	Arguments int           // length in bytes
	Store     time.Duration // time that the store took; 0 if it was not asked
}

// An Outcome is the result of an operation: "done", the name of the
// codecs.Stage of a refusal, "used" for a token that was used before, or
// "fault".
type Outcome string

// The outcomes that are not the name of a codecs.Stage.
const (
	Done  Outcome = "done"
	Used  Outcome = "used"
	Fault Outcome = "fault"
)

// An Observer counts and traces operations. Start is called before an operation,
// whose calls get the returned context, and the returned function after it. Both
// must be fast, and safe for concurrent use. Their panics are not caught.
type Observer interface {
	Start(ctx context.Context, op Operation, method string) (context.Context, func(Event))
}

type unobserved struct{}

func (unobserved) Start(ctx context.Context, _ Operation, _ string) (context.Context, func(Event)) {
	return ctx, func(Event) {}
}

func outcome(err error) Outcome {
	switch r := codecs.Rejected(err); {
	case err == nil:
		return Done
	case r == errSpent:
		return Used
	case r != nil:
		return Outcome(r.Stage.String())
	default:
		return Fault
	}
}
