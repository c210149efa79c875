package planted

import (
	"time"

	"sealab/codecs"
)

// A scheme is a sound scheme with a bug.
type scheme struct {
	*state
	sound codecs.SchemeAssembler
}

func (b Bug) newScheme(sound func(codecs.Config) (codecs.Scheme, error), c codecs.Config) (codecs.Scheme, error) {
	inner, err := sound(c)
	if err != nil {
		return nil, err
	}
	assembler, ok := inner.(codecs.SchemeAssembler)
	if !ok {
		return nil, errAssembler
	}
	return scheme{&state{Bug: b}, assembler}, nil
}

// looked returns the binding that is looked at.
func (s scheme) looked(b *codecs.Binding) *codecs.Binding {
	if b == nil || s.binding == nil {
		return b
	}
	at := s.binding(*b)
	return &at
}

func (s scheme) SeedSize() int { return s.sound.SeedSize() }

func (s scheme) Mint(dst, state []byte, b *codecs.Binding, now time.Time) ([]byte, error) {
	out, err := s.sound.Mint(dst, s.payload(state), s.looked(b), now)
	return s.seal(dst, out, err)
}

func (s scheme) MintSeeded(dst, seed, state []byte, b *codecs.Binding, now time.Time) ([]byte, error) {
	out, err := s.sound.MintSeeded(dst, seed, s.payload(state), s.looked(b), now)
	return s.seal(dst, out, err)
}

func (s scheme) MintEdited(dst, seed, state []byte, b *codecs.Binding, now time.Time, edit codecs.Edit) ([]byte, error) {
	return s.sound.MintEdited(dst, seed, s.payload(state), s.looked(b), now, edit)
}

func (s scheme) Verify(dst, token []byte, b *codecs.Binding, now time.Time) ([]byte, error) {
	if s.reading != nil {
		now = s.reading(now)
	}
	return s.open(func(dst, token []byte) ([]byte, error) { return s.sound.Verify(dst, token, s.looked(b), now) }, dst, token)
}
