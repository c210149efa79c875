package planted

import (
	"sealab/codecs"
	"sealab/internal/lab"
)

// A scheme is a sound scheme with a bug.
type scheme struct {
	*state
	sound lab.SchemeAssembler
}

func (b Bug) newScheme(sound func(codecs.Config) (codecs.Scheme, error), c codecs.Config) (codecs.Scheme, error) {
	inner, err := sound(c)
	if err != nil {
		return nil, err
	}
	assembler, ok := inner.(lab.SchemeAssembler)
	if !ok {
		return nil, errAssembler
	}
	return scheme{&state{Bug: b}, assembler}, nil
}

// looked returns the binding that is looked at.
func (s scheme) looked(b *codecs.Context) *codecs.Context {
	if b == nil || s.binding == nil {
		return b
	}
	at := s.binding(*b)
	return &at
}

func (s scheme) SeedSize() int { return s.sound.SeedSize() }

func (s scheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	out, err := s.sound.Mint(dst, s.payload(state), s.looked(b))
	return s.seal(dst, out, err)
}

func (s scheme) MintSeeded(dst, seed, state []byte, b *codecs.Context) ([]byte, error) {
	out, err := s.sound.MintSeeded(dst, seed, s.payload(state), s.looked(b))
	return s.seal(dst, out, err)
}

func (s scheme) MintEdited(dst, seed, state []byte, b *codecs.Context, edit lab.Edit) ([]byte, error) {
	return s.sound.MintEdited(dst, seed, s.payload(state), s.looked(b), edit)
}

func (s scheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	if s.reading != nil {
		at := *b
		at.Now = s.reading(b.Now)
		b = &at
	}
	return s.open(func(dst, token []byte) ([]byte, error) { return s.sound.Verify(dst, token, s.looked(b)) }, dst, token)
}
