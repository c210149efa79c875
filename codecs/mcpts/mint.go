package mcpts

import (
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/internal/lab"
)

// Mint implements codecs.Scheme. Minting is deterministic.
func (s *Scheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	return s.mint(dst, state, b, nil)
}

// SeedSize implements lab.SeededScheme: there is nothing random in a token.
func (s *Scheme) SeedSize() int { return 0 }

// MintSeeded implements lab.SeededScheme.
func (s *Scheme) MintSeeded(dst, seed, state []byte, b *codecs.Context) ([]byte, error) {
	return s.MintEdited(dst, seed, state, b, nil)
}

// MintEdited implements lab.SchemeAssembler.
func (s *Scheme) MintEdited(dst, seed, state []byte, b *codecs.Context, edit lab.Edit) ([]byte, error) {
	if len(seed) != 0 {
		return dst, fmt.Errorf("sealab: the seed has %d bytes, want 0", len(seed))
	}
	return s.mint(dst, state, b, edit)
}

func (s *Scheme) mint(dst, state []byte, b *codecs.Context, edit lab.Edit) ([]byte, error) {
	if err := b.Check(); err != nil {
		return dst, err
	}
	claims, err := s.claims(state, b, edit)
	if err != nil {
		return dst, err
	}
	head := edit.Apply(lab.StepPrefix, prefixBytes)
	claims = edit.Give(lab.StepClaims, claims)
	body := edit.Give(lab.StepText, base64url.AppendEncode(nil, claims))
	tag := edit.Give(lab.StepTag, s.mac.Append(nil, head, encodeText(body)))

	dst = slices.Grow(dst, len(head)+len(body)+len(separator)+base64url.EncodedLen(len(tag)))
	dst = append(dst, edit.Apply(lab.WirePrefix, head)...)
	dst = append(dst, edit.Apply(lab.WireText, body)...)
	dst = append(dst, edit.Apply(lab.WireSep, separatorBytes)...)
	tag = edit.Apply(lab.WireTag, tag)
	return edit.Tail(lab.WireText, base64url.AppendEncode(dst, tag), len(dst)), nil
}

// claims returns the JSON that is signed.
func (s *Scheme) claims(state []byte, b *codecs.Context, edit lab.Edit) ([]byte, error) {
	var tag []byte
	if s.bind != nil {
		made, err := s.bindTag(b)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", codecs.ErrUnsupported, err)
		}
		tag = edit.Give(lab.StepBind, made)
	}
	return s.appendClaims(make([]byte, 0, 96+len(state)*9/8), state, float64(b.Now.Unix())+s.ttl.Seconds(), tag)
}

// appendClaims appends what JSON.stringify makes of the claims; a nil tag is none.
func (s *Scheme) appendClaims(dst, state []byte, expires float64, tag []byte) ([]byte, error) {
	dst, err := s.payload.fromState(append(dst, `{"p":`...), state)
	if err != nil {
		return nil, err
	}
	dst = appendNumber(append(dst, `,"exp":`...), expires)
	if tag != nil {
		dst = stringify.Append(append(dst, `,"b":`...), tag)
	}
	return append(dst, '}'), nil
}
