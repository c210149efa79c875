package codecs

import "time"

// Bound is a Scheme as a Codec: under one Binding and at one time. It lets what
// works on codecs work on schemes. Use AsSeeded and AsAssembler to ask it for
// more than Codec.
type Bound struct {
	Scheme  Scheme
	Binding *Binding
	Now     time.Time
}

// Seal implements Codec by minting.
func (c Bound) Seal(dst, payload []byte) ([]byte, error) {
	return c.Scheme.Mint(dst, payload, c.Binding, c.Now)
}

// Unseal implements Codec by verifying.
func (c Bound) Unseal(dst, token []byte) ([]byte, error) {
	return c.Scheme.Verify(dst, token, c.Binding, c.Now)
}

// boundSeeded is Bound for a SeededScheme.
type boundSeeded struct {
	Bound
	SeededScheme
}

func (c boundSeeded) SealSeeded(dst, seed, payload []byte) ([]byte, error) {
	return c.MintSeeded(dst, seed, payload, c.Binding, c.Now)
}

// boundAssembler is Bound for a SchemeAssembler.
type boundAssembler struct {
	boundSeeded
	assembler SchemeAssembler
}

func (c boundAssembler) SealEdited(dst, seed, payload []byte, edit Edit) ([]byte, error) {
	return c.assembler.MintEdited(dst, seed, payload, c.Binding, c.Now, edit)
}

// AsSeeded returns c as a Seeded, and whether it can be one.
func AsSeeded(c Codec) (Seeded, bool) {
	if b, ok := c.(Bound); ok {
		s, ok := b.Scheme.(SeededScheme)
		return boundSeeded{b, s}, ok
	}
	s, ok := c.(Seeded)
	return s, ok
}

// AsAssembler returns c as an Assembler, and whether it can be one.
func AsAssembler(c Codec) (Assembler, bool) {
	if b, ok := c.(Bound); ok {
		a, ok := b.Scheme.(SchemeAssembler)
		return boundAssembler{boundSeeded{b, a}, a}, ok
	}
	a, ok := c.(Assembler)
	return a, ok
}
