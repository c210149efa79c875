// Package codecs defines the interfaces of sealed-token codecs and token
// schemes, their errors, and the catalog row of a design.
//
// A codec turns a payload into a token and back. It knows cryptography only. A
// scheme turns application state into a token that is valid in one [Context]
// and for a limited time. Instruments, such as attacks and benchmarks, use only
// these interfaces and never name a design.
//
// An operation has three outcomes: done (nil error), refused (a [*RejectError]
// that carries the [Stage]), and not supported ([ErrUnsupported]). Any other
// error is a fault of the program or of a worker and stops the run.
//
// Every implementation keeps these rules, which package codectest checks:
//
//   - Results are appended to dst. On any error dst is returned unchanged, and its
//     spare capacity holds no bytes of an unauthenticated payload.
//   - Arguments are neither changed nor kept. Keys are copied at construction.
//   - Values are safe for concurrent use.
//   - Seal and Unseal do not allocate if dst has room: for the token in Seal, for
//     the payload in Unseal. The row of a design states any exception.
//   - Only the canonical encoding of a token is accepted, unless the design
//     disclaims [Canonical].
//
// The package imports only the standard library.
package codecs

import (
	"encoding/json"
	"errors"
	"time"
)

// A Codec seals payloads into URL-safe tokens and unseals them.
type Codec interface {
	// Seal appends the token of payload to dst. It fails only if the system has
	// no randomness or a limit of the design is reached.
	Seal(dst, payload []byte) ([]byte, error)
	// Unseal appends the payload of token to dst. If no key of the ring sealed
	// token, it returns dst unchanged and a *RejectError.
	Unseal(dst, token []byte) ([]byte, error)
}

// A Scheme mints tokens that carry application state, and verifies them. A
// token is valid in one Context and for a limited time. Time is an argument: a
// scheme never reads a clock.
type Scheme interface {
	// Mint appends to dst a token that carries state. The token is valid in c,
	// from c.Now on, for the scheme's time to live. Mint returns ErrUnsupported
	// if the format cannot carry state; text formats carry only valid UTF-8.
	Mint(dst, state []byte, c *Context) ([]byte, error)
	// Verify appends the state of token to dst. If it refuses token, it returns
	// dst unchanged and a *RejectError.
	Verify(dst, token []byte, c *Context) ([]byte, error)
}

// A Context is the request that a token is minted for or verified against, with
// the time of the call. Mint and Verify return ErrNoTime, not a refusal, for a
// nil Context or a zero Now.
type Context struct {
	Now    time.Time // must not be zero
	Method string    // for example "tools/call"
	Target string    // tool or prompt name, or resource URI
	// Arguments holds the raw bytes of the request's arguments as received; nil
	// if absent. Digests are computed from these bytes, never from decoded
	// values.
	Arguments json.RawMessage
	Principal *string // nil if unauthenticated, which differs from ""
	Audience  *string // nil if absent
}

// ErrNoTime is returned by Mint and Verify for a Context without a time.
var ErrNoTime = errors.New("the context has no time")

// Check returns ErrNoTime unless the context has a time. Every scheme calls it
// first.
func (c *Context) Check() error {
	if c == nil || c.Now.IsZero() {
		return ErrNoTime
	}
	return nil
}

// A Kind tells whether a design is a codec or a scheme.
type Kind string

// The kinds.
const (
	KindCodec  Kind = "codec"  // a [Codec]
	KindScheme Kind = "scheme" // a [Scheme]
)

// Kind returns the kind of the design.
func (d *Design) Kind() Kind {
	if d.IsScheme() {
		return KindScheme
	}
	return KindCodec
}

// IsScheme reports whether the design is a scheme rather than a codec.
func (d *Design) IsScheme() bool { return d.NewScheme != nil }
