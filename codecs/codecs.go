// Package codecs is the contract of the laboratory: what a sealed-token codec
// and a token scheme are, how they answer, and what a design says of itself.
//
// A codec turns a payload into a token and back and knows cryptography only. A
// scheme turns application state into a token that is good for one [Binding]
// and a limited time. Every instrument of the laboratory works against these
// interfaces and learns nothing of the design behind them.
//
// Three outcomes exist, never two: done (nil error), refused (a
// [*RejectError], which carries the [Stage]), and not supported
// ([ErrUnsupported]). Any other error is a fault of the laboratory or of a
// worker and stops the run.
//
// What every implementation promises, and package codectest checks:
//
//   - results are appended to dst; on any error dst is returned as it came,
//     and nothing of an unauthenticated payload is left in its spare capacity;
//   - no argument is changed or kept, keys are copied at construction;
//   - values are safe for concurrent use;
//   - Seal and Unseal do not allocate when dst has room: for Seal, room for the
//     token; for Unseal, room for the payload (a design that cannot keep this
//     says why in [Design.Allocates]);
//   - only the canonical spelling of a token is a token (a design that
//     disclaims [Canonical] says so).
//
// The package imports the standard library alone.
package codecs

import (
	"encoding/json"
	"time"
)

// A Codec seals payloads into URL-safe tokens and unseals them.
type Codec interface {
	// Seal appends the token of payload to dst. It fails only where the system
	// has no randomness or the design's limits are reached.
	Seal(dst, payload []byte) ([]byte, error)
	// Unseal appends the payload of token to dst. It returns dst unchanged and
	// a *RejectError when token is not one that this codec's ring sealed.
	Unseal(dst, token []byte) ([]byte, error)
}

// Seeded is a Codec whose randomness can be given, for vectors and for
// differential sealing. A seed used twice under one key is a repeated nonce:
// never seal production tokens with it.
type Seeded interface {
	Codec
	// SeedSize is the number of random bytes that one token takes; 0 says that
	// sealing is deterministic.
	SeedSize() int
	// SealSeeded is Seal with the randomness taken from seed, which has exactly
	// SeedSize bytes; any other length is an error.
	SealSeeded(dst, seed, payload []byte) ([]byte, error)
}

// A Scheme mints tokens that carry application state for one Binding and a
// limited time, and verifies them. Time is an argument: no scheme reads a clock.
type Scheme interface {
	// Mint appends to dst a token that carries state, good for b from now on
	// for the scheme's time to live. A state that the format cannot carry (text
	// formats carry valid UTF-8 only) is ErrUnsupported.
	Mint(dst, state []byte, b *Binding, now time.Time) ([]byte, error)
	// Verify appends the state of token to dst, or returns dst unchanged and a
	// *RejectError.
	Verify(dst, token []byte, b *Binding, now time.Time) ([]byte, error)
}

// SeededScheme is to Scheme what Seeded is to Codec.
type SeededScheme interface {
	Scheme
	SeedSize() int
	MintSeeded(dst, seed, state []byte, b *Binding, now time.Time) ([]byte, error)
}

// A Binding is the context that a token is minted for and verified against.
// A nil *Binding means the zero Binding.
type Binding struct {
	Method string // for example "tools/call"
	Target string // tool or prompt name, or resource URI
	// Arguments are the raw bytes of the request's arguments as received; nil
	// when absent. Digests are taken from these bytes, never from decoded values.
	Arguments json.RawMessage
	Principal *string // nil: unauthenticated, which differs from ""
	Audience  *string // nil: none
}
