// Package codecs is the contract of the laboratory: the interfaces of sealed-token
// codecs and token schemes, their answers, and the row of a design.
//
// A codec turns a payload into a token and back and knows cryptography only. A
// scheme turns application state into a token that is good in one [Context]
// and a limited time. Every instrument of the laboratory works against these
// interfaces and does not know the design behind them.
//
// Three outcomes exist, never two: done (nil error), refused (a
// [*RejectError], which carries the [Stage]), and not supported
// ([ErrUnsupported]). Any other error is a fault of the laboratory or of a
// worker and stops the run.
//
// Every implementation promises, and package codectest checks:
//
//   - results are appended to dst; on any error dst is returned as it came,
//     without bytes of an unauthenticated payload in its spare capacity;
//   - no argument is changed or kept, keys are copied at construction;
//   - values are safe for concurrent use;
//   - Seal and Unseal do not allocate if dst has room: for Seal, room for the
//     token; for Unseal, room for the payload (a design that cannot keep this
//     says so in its row);
//   - only the canonical encoding of a token is a token (a design that
//     disclaims [Canonical] says so).
//
// The package imports the standard library alone.
package codecs

import (
	"encoding/json"
	"errors"
	"time"
)

// A Codec seals payloads into URL-safe tokens and unseals them.
type Codec interface {
	// Seal appends the token of payload to dst. It fails only if the system has
	// no randomness or the design's limits are reached.
	Seal(dst, payload []byte) ([]byte, error)
	// Unseal appends the payload of token to dst. It returns dst unchanged and
	// a *RejectError when token is not one that this codec's ring sealed.
	Unseal(dst, token []byte) ([]byte, error)
}

// A Scheme mints tokens that carry application state for one Context and a
// limited time, and verifies them. Time is an argument: no scheme reads a clock.
type Scheme interface {
	// Mint appends to dst a token that carries state, good in c from c.Now on for
	// the scheme's time to live. A state that the format cannot carry (text
	// formats carry valid UTF-8 only) is ErrUnsupported.
	Mint(dst, state []byte, c *Context) ([]byte, error)
	// Verify appends the state of token to dst, or returns dst unchanged and a
	// *RejectError.
	Verify(dst, token []byte, c *Context) ([]byte, error)
}

// A Context is the request that a token is minted for or verified against, with
// the time of the call. A nil Context and a zero Now are errors in Mint and
// Verify, and not refusals.
type Context struct {
	Now    time.Time // never zero
	Method string    // for example "tools/call"
	Target string    // tool or prompt name, or resource URI
	// Arguments are the raw bytes of the request's arguments as received; nil if
	// absent. Digests are taken from these bytes, never from decoded values.
	Arguments json.RawMessage
	Principal *string // nil: unauthenticated, which differs from ""
	Audience  *string // nil: absent
}

// ErrNoTime is the error of Mint and Verify for a Context without a time.
var ErrNoTime = errors.New("the context has no time")

// Check returns ErrNoTime unless the context has a time. Every scheme calls it
// first.
func (c *Context) Check() error {
	if c == nil || c.Now.IsZero() {
		return ErrNoTime
	}
	return nil
}

// A Kind says which contract a design keeps.
type Kind string

// The kinds.
const (
	KindCodec  Kind = "codec"  // a [Codec]
	KindScheme Kind = "scheme" // a [Scheme]
)

// Kind returns the contract that the design keeps.
func (d *Design) Kind() Kind {
	if d.IsScheme() {
		return KindScheme
	}
	return KindCodec
}

// IsScheme reports whether the design is a scheme; else it is a codec.
func (d *Design) IsScheme() bool { return d.NewScheme != nil }
