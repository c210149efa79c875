package codecs

import (
	"errors"
	"fmt"
)

// ErrUnsupported reports that a codec, scheme or worker lacks the requested
// ability. It is neither success nor refusal.
var ErrUnsupported = errors.New("not supported")

// refusal is the text of every refusal, whatever its cause.
const refusal = "sealab: token refused"

// A Stage is the step of verification at which a token was refused.
type Stage uint8

// The stages, in the order in which a sound design reaches them.
const (
	Malformed   Stage = iota + 1 // not a token of this format
	UnknownKey                   // names a key that is not in the ring
	Unauthentic                  // not sealed under the key it names
	Misbound                     // authentic, but minted for another context
	Expired                      // authentic, but not valid at this time
)

var stageNames = [...]string{
	Malformed: "malformed", UnknownKey: "unknown-key", Unauthentic: "unauthentic",
	Misbound: "misbound", Expired: "expired",
}

// Stages returns every stage, in order.
func Stages() []Stage {
	return []Stage{Malformed, UnknownKey, Unauthentic, Misbound, Expired}
}

// String returns the stage's name as the worker protocol and the vectors write it.
func (s Stage) String() string {
	if int(s) < len(stageNames) && stageNames[s] != "" {
		return stageNames[s]
	}
	return fmt.Sprintf("stage(%d)", uint8(s))
}

// ParseStage returns the stage with the given name, as String writes it.
func ParseStage(name string) (Stage, error) {
	for _, s := range Stages() {
		if s.String() == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("%q is not a stage", name)
}

// A RejectError says that a token was refused. Its text is the same for every
// refusal, so that the client cannot learn the cause. Stage and Reason are for
// the server's own log and for the instruments of this module.
type RejectError struct {
	Stage  Stage
	Reason string // the cause, in the terms of the design, for example "tag"
}

// Error returns one fixed text.
func (*RejectError) Error() string { return refusal }

// GoString returns the same text for %#v.
func (*RejectError) GoString() string { return refusal }

// MarshalText returns the same text.
func (*RejectError) MarshalText() ([]byte, error) { return []byte(refusal), nil }

// MarshalJSON returns the same text as a JSON string.
func (*RejectError) MarshalJSON() ([]byte, error) { return []byte(`"` + refusal + `"`), nil }

// Reject returns a refusal. Designs keep their refusals in package variables,
// so that refusing does not allocate.
func Reject(stage Stage, reason string) *RejectError {
	return &RejectError{Stage: stage, Reason: reason}
}

// Rejected returns the first RejectError in err's chain, or nil.
func Rejected(err error) *RejectError {
	r, _ := errors.AsType[*RejectError](err)
	return r
}

// ErrFault is in the chain of every error that reports a worker that exited,
// hung or broke its protocol. In an error of NewCodec or NewScheme it
// distinguishes a broken worker from a refused configuration.
var ErrFault = errors.New("worker fault")
