package boundary

import (
	"context"
	"time"

	"sealab/codecs"
)

// An Operation is a call that an Observer sees.
type Operation string

// The operations.
const (
	Mint   Operation = "mint"
	Verify Operation = "verify"
)

// An Event describes a finished operation. It holds no token, state or
// principal.
type Event struct {
	Outcome   Outcome
	Token     int           // length in bytes
	Arguments int           // length in bytes
	Store     time.Duration // time spent in the store; 0 if it was not called
}

// An Outcome is the result of an operation: "done", "used" for a token that was
// used before, "fault", or the name of the codecs.Stage of a refusal.
type Outcome string

// The outcomes besides the names of the codecs.Stage values.
const (
	Done  Outcome = "done"
	Used  Outcome = "used"
	Fault Outcome = "fault"
)

// An Observer counts and traces operations. Start is called before an
// operation, and the function that it returns is called after it. The operation
// gets the returned context. Both must be fast and safe for concurrent use.
// Their panics are not recovered.
type Observer interface {
	Start(ctx context.Context, op Operation, method string) (context.Context, func(Event))
}

type noObserver struct{}

func (noObserver) Start(ctx context.Context, _ Operation, _ string) (context.Context, func(Event)) {
	return ctx, func(Event) {}
}

func outcomeOf(err error) Outcome {
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
