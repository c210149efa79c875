// Package wire writes tokens that are sealed step by step: a prefix, and behind
// it base64url without padding (RFC 4648, section 5) of binary fields, joined.
//
// It knows no design and no cryptography. With the nil Edit it copies each value
// once.
package wire

import (
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/internal/lab"
)

// A Layout has the step of each field after the prefix, in order.
type Layout []lab.Step

// Append appends to dst the token of the prefix and the fields' values, one for
// each step of the layout. The edit sees the prefix, each field, and last the
// text of all fields.
func (l Layout) Append(dst []byte, edit lab.Edit, prefix []byte, values ...[]byte) []byte {
	size := 0
	for _, v := range values {
		size += len(v)
	}
	dst = slices.Grow(dst, len(prefix)+base64url.EncodedLen(size))
	dst = append(dst, edit.Apply(lab.WirePrefix, prefix)...)
	room := base64url.GetScratch()
	defer room.Free()
	room.Grow(size)
	for i, step := range l {
		room.Bytes = append(room.Bytes, edit.Apply(step, values[i])...)
	}
	return edit.Tail(lab.WireText, base64url.AppendEncode(dst, room.Bytes), len(dst))
}

// A Mint mints a token step by step under a seed.
type Mint[S codecs.Scheme] func(s S, dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error)

// ForLab returns the opening of a catalog's row: the scheme that open returns, which
// internal/lab can seal step by step with mint. A seed has seedSize bytes. The scheme
// itself has no such methods.
func ForLab[S codecs.Scheme](open func(codecs.Config) (S, error), seedSize int, mint Mint[S]) func(codecs.Config) (codecs.Scheme, error) {
	return func(c codecs.Config) (codecs.Scheme, error) {
		s, err := open(c)
		if err != nil {
			return nil, err
		}
		return Assemble(s, seedSize, mint), nil
	}
}

// Assemble returns a scheme that internal/lab can seal step by step with mint.
func Assemble[S codecs.Scheme](s S, seedSize int, mint Mint[S]) codecs.Scheme {
	return assembler[S]{s, s, seedSize, mint}
}

// An assembler is a scheme with the methods that internal/lab needs.
type assembler[S codecs.Scheme] struct {
	codecs.Scheme
	scheme   S
	seedSize int
	mint     Mint[S]
}

// SeedSize implements lab.SeededScheme.
func (a assembler[S]) SeedSize() int { return a.seedSize }

// MintSeeded implements lab.SeededScheme.
func (a assembler[S]) MintSeeded(dst, seed, state []byte, c *codecs.Context) ([]byte, error) {
	return a.MintEdited(dst, seed, state, c, nil)
}

// MintEdited implements lab.SchemeAssembler.
func (a assembler[S]) MintEdited(dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	if len(seed) != a.seedSize {
		return dst, fmt.Errorf("the seed has %d bytes, want %d", len(seed), a.seedSize)
	}
	return a.mint(a.scheme, dst, seed, state, c, edit)
}
