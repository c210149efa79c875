package lab

import (
	"time"

	"crypto/cipher"
	"math"
	"slices"
	"strings"

	"sealab/codecs"
)

// Hooks are the abilities and figures of a design that only instruments need. They are stored in the Hooks
// field of the design's row.
type Hooks struct {
	// Codec and Scheme open the design for sealing step by step. Both are nil if
	// the opened codec or scheme implements Assembler or SchemeAssembler itself.
	Codec  func(codecs.Config) (Assembler, error)
	Scheme func(codecs.Config) (SchemeAssembler, error)

	// Inspect parses a token without a key and without verifying it. It fails if it does not recognize the
	// format.
	Inspect func(token []byte) ([]Field, error)

	// Other lists the characters that tokens may contain besides the unreserved ones of RFC 3986. It is
	// for formats defined elsewhere.
	Other string

	// Verifying returns one value per secret with which tokens can be verified but not minted. It is nil
	// if verification needs the secrets themselves.
	Verifying func(secrets [][]byte) ([][]byte, error)

	// Grace is how long after its expiry a token is still accepted.
	Grace time.Duration

	// Facts help choose a design. It is nil for a design that is only compared with.
	Facts *Facts

	// Primitive is the algorithm that processes every byte of the payload, for example "AES-256-GCM". The
	// design's speed is measured against the primitive's bare use. Primitive is empty if most of the work
	// per token is elsewhere.
	Primitive string
	// Bare returns Primitive under a key of 32 bytes, for the bare baseline. It is nil if Primitive is not
	// an AEAD, or if another design provides it.
	Bare func(key []byte) (cipher.AEAD, error)
	// SIVKey returns the AES-GCM-SIV key derived from a secret. An attack uses it to make tokens that open
	// under two keys. It is nil for other designs.
	SIVKey func(secret []byte) []byte
	// Amortized says that many tokens share the cost of one key agreement. A token whose key agreement is
	// cached costs little more than Primitive.
	Amortized bool
	// Stretched says that the key is stretched for each token, which takes as long as ten tokens of other
	// designs.
	Stretched bool

	// FewVectors says that the format needs few vectors: other formats cover the cases of documents and
	// options, or the format has published vectors of its own.
	FewVectors bool

	// Unjudged says that no second implementation of the format runs here. Only the design itself confirms
	// its vectors.
	Unjudged bool

	// TokenSize returns the length in bytes of the token of an n-byte payload.
	// It is nil if the length depends on more than that.
	TokenSize func(n int) int

	// Allocates is the reason why sealing and unsealing allocate although dst has room. It is empty for a
	// design that does not allocate.
	Allocates string
	// AllocatesInGo is the reason why a design allocates when it runs without assembly: under the build
	// tag purego, and on machines other than amd64 and arm64.
	AllocatesInGo string
}

// HooksOf returns the hooks of a design, or the zero Hooks.
func HooksOf(d codecs.Design) Hooks {
	h, _ := d.Hooks.(*Hooks)
	if h == nil {
		return Hooks{}
	}
	out := *h
	if size := h.TokenSize; size != nil {
		out.TokenSize = func(n int) int {
			if n > math.MaxInt/8 {
				return math.MaxInt // no memory holds the token, and sums would overflow
			}
			return size(n)
		}
	}
	return out
}

// Foreign reports whether a character does not belong in a token: it is neither unreserved in RFC 3986 nor
// in Other.
func (h Hooks) Foreign(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_', r == '.', r == '~':
		return false
	}
	return !strings.ContainsRune(h.Other, r)
}

// Seeded is a codec that seals with a given seed, for vectors and differential sealing. A seed used twice
// under one key is a repeated nonce: never seal production tokens with it.
type Seeded interface {
	codecs.Codec
	// SeedSize is the number of random bytes that one token takes; 0 if sealing
	// is deterministic.
	SeedSize() int
	// SealSeeded is Seal with the randomness taken from seed, which has exactly
	// SeedSize bytes; any other length is an error.
	SealSeeded(dst, seed, payload []byte) ([]byte, error)
}

// SeededScheme is the counterpart of Seeded for schemes.
type SeededScheme interface {
	codecs.Scheme
	SeedSize() int
	MintSeeded(dst, seed, state []byte, c *codecs.Context) ([]byte, error)
}

// An Assembler is a codec that seals step by step. It builds invalid tokens and shows the intermediate
// values of valid ones. With an Edit that returns every value unchanged, SealEdited equals SealSeeded.
type Assembler interface {
	Seeded
	SealEdited(dst, seed, payload []byte, edit Edit) ([]byte, error)
}

// A SchemeAssembler is the counterpart of Assembler for schemes.
type SchemeAssembler interface {
	SeededScheme
	MintEdited(dst, seed, state []byte, c *codecs.Context, edit Edit) ([]byte, error)
}

// An Answer is the result for one token of a batch: the payload, or the error that Unseal or Verify would
// have returned.
type Answer struct {
	Payload []byte
	Err     error
}

// A BatchCodec is a codec that unseals many tokens in one call.
type BatchCodec interface {
	codecs.Codec
	// UnsealAll returns one answer per token, in order. It returns no answers with an error.
	UnsealAll(tokens [][]byte) ([]Answer, error)
}

// BatchScheme is the counterpart of BatchCodec for schemes.
type BatchScheme interface {
	codecs.Scheme
	VerifyAll(tokens [][]byte, c *codecs.Context) ([]Answer, error)
}

// A Sealer is a codec or scheme that seals many payloads faster in one call than one by one.
type Sealer interface {
	// SealAll returns one answer per payload, with the token in the Payload field. A codec ignores the
	// contexts. SealAll returns no answers with an error.
	SealAll(payloads [][]byte, contexts []*codecs.Context) ([]Answer, error)
}

// A Verifier is a scheme that verifies many tokens, each in its own context, faster in one call than one
// by one.
type Verifier interface {
	// VerifyEach returns one answer per token, in order. It returns no answers with an error.
	VerifyEach(tokens [][]byte, contexts []*codecs.Context) ([]Answer, error)
}

// With returns the design with other defaults: it moves the given values to the front of their options. It
// ignores an option or value that the design does not have.
func With(d codecs.Design, options map[string]string) codecs.Design {
	d.Options = slices.Clone(d.Options)
	for i, o := range d.Options {
		if value, ok := options[o.Name]; ok && slices.Contains(o.Values, value) {
			others := slices.DeleteFunc(slices.Clone(o.Values), func(v string) bool { return v == value })
			d.Options[i].Values = append([]string{value}, others...)
		}
	}
	return d
}
