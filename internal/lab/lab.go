// Package lab opens any design for an instrument. To the contract of package codecs it adds the abilities
// that only instruments need: sealing with a given seed, sealing with edited intermediate values, batches,
// and parsing without a key.
//
// [Open] opens a design under a key ring. The [Instance] that it returns treats codecs and schemes alike:
// a codec ignores the context. An ability that the design lacks returns [codecs.ErrUnsupported].
//
// The abilities come from the [Hooks] in the design's row. An opened codec or scheme may also implement
// the interfaces of this package itself.
package lab

import (
	"fmt"
	"io"

	"sealab/codecs"
)

// An Instance is a design opened under a key ring. It is safe for concurrent
// use.
type Instance struct {
	Design codecs.Design

	codec  codecs.Codec // nil for a scheme
	scheme codecs.Scheme

	seeded      Seeded
	seededAt    SeededScheme
	assembler   Assembler
	assemblerAt SchemeAssembler
	batch       BatchCodec
	batchAt     BatchScheme
}

// Open opens a codec or scheme. It fails as codecs.Design.OpenCodec and OpenScheme do. It opens a codec
// without a TTL.
func Open(d codecs.Design, c codecs.Config) (*Instance, error) {
	if d.IsScheme() {
		return openScheme(d, c)
	}
	c.TTL = nil
	codec, err := d.OpenCodec(c)
	if err != nil {
		return nil, err
	}
	in := OfCodec(codec)
	in.Design = d
	if h := HooksOf(d); h.Codec != nil {
		if in.assembler, err = h.Codec(c); err != nil {
			return nil, err
		}
		in.seeded = in.assembler
	}
	return in, nil
}

func openScheme(d codecs.Design, c codecs.Config) (*Instance, error) {
	scheme, err := d.OpenScheme(c)
	if err != nil {
		return nil, err
	}
	in := ofScheme(scheme)
	in.Design = d
	if h := HooksOf(d); h.Scheme != nil {
		if in.assemblerAt, err = h.Scheme(c); err != nil {
			return nil, err
		}
		in.seededAt = in.assemblerAt
	}
	return in, nil
}

// OfCodec returns an instance of an opened codec. Its Design is zero.
func OfCodec(c codecs.Codec) *Instance {
	in := &Instance{codec: c}
	in.seeded, _ = c.(Seeded)
	in.assembler, _ = c.(Assembler)
	in.batch, _ = c.(BatchCodec)
	return in
}

// ofScheme returns an instance of an opened scheme. Its Design is zero.
func ofScheme(s codecs.Scheme) *Instance {
	in := &Instance{scheme: s}
	in.seededAt, _ = s.(SeededScheme)
	in.assemblerAt, _ = s.(SchemeAssembler)
	in.batchAt, _ = s.(BatchScheme)
	return in
}

// Opened returns the codec or the scheme that the instance wraps.
func (in *Instance) Opened() any {
	if in.scheme != nil {
		return in.scheme
	}
	return in.codec
}

// Seal seals a payload, or mints a token for a state.
func (in *Instance) Seal(dst, payload []byte, c *codecs.Context) ([]byte, error) {
	if in.scheme != nil {
		return in.scheme.Mint(dst, payload, c)
	}
	return in.codec.Seal(dst, payload)
}

// Unseal unseals or verifies a token.
func (in *Instance) Unseal(dst, token []byte, c *codecs.Context) ([]byte, error) {
	if in.scheme != nil {
		return in.scheme.Verify(dst, token, c)
	}
	return in.codec.Unseal(dst, token)
}

// Seeded reports whether SealSeeded is supported.
func (in *Instance) Seeded() bool { return in.seeded != nil || in.seededAt != nil }

// Edited reports whether SealEdited is supported.
func (in *Instance) Edited() bool { return in.assembler != nil || in.assemblerAt != nil }

// Batched reports whether UnsealBatch is supported.
func (in *Instance) Batched() bool { return in.batch != nil || in.batchAt != nil }

// SeedSize returns the number of random bytes that one token takes. It is 0 if sealing is deterministic or
// if seeds are not supported.
func (in *Instance) SeedSize() int {
	switch {
	case in.seeded != nil:
		return in.seeded.SeedSize()
	case in.seededAt != nil:
		return in.seededAt.SeedSize()
	default:
		return 0
	}
}

// SealSeeded is Seal with the randomness taken from seed.
func (in *Instance) SealSeeded(dst, seed, payload []byte, c *codecs.Context) ([]byte, error) {
	switch {
	case in.seeded != nil:
		return in.seeded.SealSeeded(dst, seed, payload)
	case in.seededAt != nil:
		return in.seededAt.MintSeeded(dst, seed, payload, c)
	default:
		return dst, fmt.Errorf("%s does not seal under a given seed: %w", in.Design.Name, codecs.ErrUnsupported)
	}
}

// SealEdited is SealSeeded with every step passed through edit.
func (in *Instance) SealEdited(dst, seed, payload []byte, c *codecs.Context, edit Edit) ([]byte, error) {
	switch {
	case in.assembler != nil:
		return in.assembler.SealEdited(dst, seed, payload, edit)
	case in.assemblerAt != nil:
		return in.assemblerAt.MintEdited(dst, seed, payload, c, edit)
	default:
		return dst, fmt.Errorf("%s does not seal step by step: %w", in.Design.Name, codecs.ErrUnsupported)
	}
}

// UnsealBatch unseals many tokens in one call. It returns ErrUnsupported unless Batched.
func (in *Instance) UnsealBatch(tokens [][]byte, c *codecs.Context) ([]Answer, error) {
	switch {
	case in.batch != nil:
		return in.batch.UnsealAll(tokens)
	case in.batchAt != nil:
		return in.batchAt.VerifyAll(tokens, c)
	default:
		return nil, fmt.Errorf("%s does not judge batches: %w", in.Design.Name, codecs.ErrUnsupported)
	}
}

// UnsealAll unseals every token: in one call if the design supports batches, otherwise one by one.
func (in *Instance) UnsealAll(tokens [][]byte, c *codecs.Context) ([]Answer, error) {
	if in.Batched() {
		return in.UnsealBatch(tokens, c)
	}
	all := make([]Answer, len(tokens))
	for i, token := range tokens {
		all[i].Payload, all[i].Err = in.Unseal(nil, token, c)
	}
	return all, nil
}

// SealAll seals payloads[i] in contexts[i]: in one call if the design is a Sealer, otherwise one by one.
func (in *Instance) SealAll(payloads [][]byte, contexts []*codecs.Context) ([]Answer, error) {
	if s, ok := in.Opened().(Sealer); ok {
		return s.SealAll(payloads, contexts)
	}
	all := make([]Answer, len(payloads))
	for i, payload := range payloads {
		all[i].Payload, all[i].Err = in.Seal(nil, payload, contexts[i])
	}
	return all, nil
}

// Close releases the resources that the instance holds in another process.
func (in *Instance) Close() error {
	if c, ok := in.Opened().(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// At returns the instance as a codec that makes every call in the given context.
func (in *Instance) At(c *codecs.Context) *Bound { return &Bound{in, c} }

// OpenAt opens a design and returns it as a codec in the given context.
func OpenAt(d codecs.Design, config codecs.Config, c *codecs.Context) (*Bound, error) {
	in, err := Open(d, config)
	if err != nil {
		return nil, err
	}
	return in.At(c), nil
}

// A Bound is an instance in one context. It implements [codecs.Codec] and [Assembler]. Call
// Instance.Seeded and Instance.Edited before using the latter.
type Bound struct {
	Instance *Instance
	Context  *codecs.Context
}

// Seal implements codecs.Codec.
func (b *Bound) Seal(dst, payload []byte) ([]byte, error) {
	return b.Instance.Seal(dst, payload, b.Context)
}

// Unseal implements codecs.Codec.
func (b *Bound) Unseal(dst, token []byte) ([]byte, error) {
	return b.Instance.Unseal(dst, token, b.Context)
}

// SeedSize implements Seeded.
func (b *Bound) SeedSize() int { return b.Instance.SeedSize() }

// SealSeeded implements Seeded.
func (b *Bound) SealSeeded(dst, seed, payload []byte) ([]byte, error) {
	return b.Instance.SealSeeded(dst, seed, payload, b.Context)
}

// SealEdited implements Assembler.
func (b *Bound) SealEdited(dst, seed, payload []byte, edit Edit) ([]byte, error) {
	return b.Instance.SealEdited(dst, seed, payload, b.Context, edit)
}

// UnsealAll implements BatchCodec; see Instance.UnsealAll.
func (b *Bound) UnsealAll(tokens [][]byte) ([]Answer, error) {
	return b.Instance.UnsealAll(tokens, b.Context)
}
