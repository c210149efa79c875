package lab

import (
	"time"

	"crypto/cipher"
	"math"
	"slices"
	"strings"

	"sealab/codecs"
)

// Hooks are the abilities and figures of a design that only instruments need.
// They are in the Hooks field of the design's row.
type Hooks struct {
	// Codec and Scheme open the design for sealing step by step. Both are nil if
	// the opened codec or scheme implements Assembler or SchemeAssembler itself.
	Codec  func(codecs.Config) (Assembler, error)
	Scheme func(codecs.Config) (SchemeAssembler, error)

	// Inspect parses a token without a key and without judging it. It fails if
	// the format cannot be recognised.
	Inspect func(token []byte) ([]Field, error)

	// Other lists the characters of tokens beside the unreserved ones of RFC 3986.
	// It is for formats that others defined.
	Other string

	// Verifying returns the values with which tokens under a ring of secrets are
	// verified and cannot be minted, one for each secret. It is nil if those are the
	// secrets themselves.
	Verifying func(secrets [][]byte) ([][]byte, error)

	// Grace is the time after its expiry for which a token is still accepted.
	Grace time.Duration

	// Facts are for choosing a design; nil for one that is here to be compared.
	Facts *Facts

	// Primitive is the algorithm that works on every byte of the payload, for
	// example "AES-256-GCM": the design's speed is measured against its bare
	// use. It is empty if the work per token lies elsewhere.
	Primitive string
	// Bare returns Primitive under a key of 32 bytes, for the baseline of its bare
	// use. It is nil if Primitive is not an AEAD, or that of another design.
	Bare func(key []byte) (cipher.AEAD, error)
	// SIVKey returns the key of AES-GCM-SIV under a secret, by which an attack makes
	// tokens that open under two keys. It is nil for other designs.
	SIVKey func(secret []byte) []byte
	// Amortised says that many tokens share the cost of one key agreement, so
	// that a token whose agreement is known costs little more than Primitive.
	Amortised bool
	// Stretched says that a key is stretched for each token, which takes the time of
	// ten tokens of other designs.
	Stretched bool

	// FewVectors says that a format has few vectors: other formats hold the cases of
	// documents and options, or the format has published vectors of its own.
	FewVectors bool

	// Unjudged says that no second implementation of the format runs here, so that
	// its vectors are the design's own word.
	Unjudged bool

	// TokenSize returns the length in bytes of the token of an n-byte payload.
	// It is nil if the length depends on more than that.
	TokenSize func(n int) int

	// Allocates is the reason why sealing and unsealing allocate although dst
	// has room. It is empty for a design that does not allocate.
	Allocates string
	// AllocatesInGo is the reason if it may allocate without assembly only: under the
	// build tag purego, and on machines other than amd64 and arm64.
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
				return math.MaxInt // no memory holds the token, and sums would wrap
			}
			return size(n)
		}
	}
	return out
}

// Foreign reports whether a character does not belong in a token: it is neither unreserved
// in RFC 3986 nor one of Other.
func (h Hooks) Foreign(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_', r == '.', r == '~':
		return false
	}
	return !strings.ContainsRune(h.Other, r)
}

// Seeded is a codec whose randomness can be given, for vectors and for
// differential sealing. A seed used twice under one key is a repeated nonce:
// never seal production tokens with it.
type Seeded interface {
	codecs.Codec
	// SeedSize is the number of random bytes that one token takes; 0 if sealing
	// is deterministic.
	SeedSize() int
	// SealSeeded is Seal with the randomness taken from seed, which has exactly
	// SeedSize bytes; any other length is an error.
	SealSeeded(dst, seed, payload []byte) ([]byte, error)
}

// SeededScheme is to codecs.Scheme as Seeded is to codecs.Codec.
type SeededScheme interface {
	codecs.Scheme
	SeedSize() int
	MintSeeded(dst, seed, state []byte, c *codecs.Context) ([]byte, error)
}

// An Assembler is a codec that seals step by step. It exists to build wrong
// tokens and to show the intermediate values of right ones: with an Edit that
// returns every value unchanged the result is that of SealSeeded.
type Assembler interface {
	Seeded
	SealEdited(dst, seed, payload []byte, edit Edit) ([]byte, error)
}

// A SchemeAssembler is to codecs.Scheme as Assembler is to codecs.Codec.
type SchemeAssembler interface {
	SeededScheme
	MintEdited(dst, seed, state []byte, c *codecs.Context, edit Edit) ([]byte, error)
}

// An Answer is the answer to one token of a batch: the payload, or the error
// that Unseal or Verify would have returned.
type Answer struct {
	Payload []byte
	Err     error
}

// A BatchCodec is a codec that judges many tokens in one call.
type BatchCodec interface {
	codecs.Codec
	// UnsealAll returns one answer per token, in order. An error means that
	// there are no answers.
	UnsealAll(tokens [][]byte) ([]Answer, error)
}

// BatchScheme is to codecs.Scheme as BatchCodec is to codecs.Codec.
type BatchScheme interface {
	codecs.Scheme
	VerifyAll(tokens [][]byte, c *codecs.Context) ([]Answer, error)
}

// A Sealer is a codec or scheme that makes many tokens sooner together than one by one.
type Sealer interface {
	// SealAll returns one answer per payload, with the token as its payload. A codec
	// ignores the contexts. An error means that there are no answers.
	SealAll(payloads [][]byte, contexts []*codecs.Context) ([]Answer, error)
}

// A Verifier is a scheme that judges many tokens, each in its own context, sooner together
// than one by one.
type Verifier interface {
	// VerifyEach returns one answer per token, in order. An error means that there are no
	// answers.
	VerifyEach(tokens [][]byte, contexts []*codecs.Context) ([]Answer, error)
}

// With returns the design with other defaults: the options given come first
// among their values. An option or value that the design does not have is
// ignored.
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
