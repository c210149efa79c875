package codecs

import (
	"errors"
	"time"
)

// A Verdict is the answer to one token of a batch: what it carried, or the
// error that Unseal or Verify would have returned.
type Verdict struct {
	Payload []byte
	Err     error
}

// A BatchCodec is a Codec that judges many tokens at once, for codecs to which
// each call is a journey.
type BatchCodec interface {
	Codec
	// UnsealAll returns one verdict per token, in order. An error means that
	// there are none.
	UnsealAll(tokens [][]byte) ([]Verdict, error)
}

// BatchScheme is to Scheme what BatchCodec is to Codec.
type BatchScheme interface {
	Scheme
	VerifyAll(tokens [][]byte, b *Binding, now time.Time) ([]Verdict, error)
}

// ErrFault is in the chain of every error that says that a worker died, hung or
// broke its protocol. Where NewCodec or NewScheme fails it tells a broken
// worker from a configuration that was refused.
var ErrFault = errors.New("sealab: worker fault")
