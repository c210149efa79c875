package mcpts

import (
	"fmt"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/codecs/b64"
)

// unbound is the binding where the caller has none.
var unbound codecs.Binding

// Mint implements codecs.Scheme. Minting is deterministic.
func (s *Scheme) Mint(dst, state []byte, b *codecs.Binding, now time.Time) ([]byte, error) {
	return s.mint(dst, state, b, now, nil)
}

// SeedSize implements codecs.SeededScheme: there is nothing random in a token.
func (s *Scheme) SeedSize() int { return 0 }

// MintSeeded implements codecs.SeededScheme.
func (s *Scheme) MintSeeded(dst, seed, state []byte, b *codecs.Binding, now time.Time) ([]byte, error) {
	return s.MintEdited(dst, seed, state, b, now, nil)
}

// MintEdited implements codecs.SchemeAssembler.
func (s *Scheme) MintEdited(dst, seed, state []byte, b *codecs.Binding, now time.Time, edit codecs.Edit) ([]byte, error) {
	if len(seed) != 0 {
		return dst, fmt.Errorf("sealab: the seed has %d bytes, want 0", len(seed))
	}
	return s.mint(dst, state, b, now, edit)
}

func (s *Scheme) mint(dst, state []byte, b *codecs.Binding, now time.Time, edit codecs.Edit) ([]byte, error) {
	if b == nil {
		b = &unbound
	}
	claims, err := s.claims(state, b, now, edit)
	if err != nil {
		return dst, err
	}
	head := edit.Apply(codecs.StepPrefix, prefixBytes)
	claims = edit.Give(codecs.StepClaims, claims)
	body := edit.Give(codecs.StepText, b64.AppendEncode(nil, claims))
	tag := edit.Give(codecs.StepTag, s.mac.Append(nil, head, encodeText(body)))

	dst = slices.Grow(dst, len(head)+len(body)+len(separator)+b64.EncodedLen(len(tag)))
	dst = append(dst, edit.Apply(codecs.WirePrefix, head)...)
	dst = append(dst, edit.Apply(codecs.WireText, body)...)
	dst = append(dst, edit.Apply(codecs.WireSep, separatorBytes)...)
	tag = edit.Apply(codecs.WireTag, tag)
	return edit.Tail(codecs.WireText, b64.AppendEncode(dst, tag), len(dst)), nil
}

// claims returns the JSON that is signed.
func (s *Scheme) claims(state []byte, b *codecs.Binding, now time.Time, edit codecs.Edit) ([]byte, error) {
	var tag []byte
	if s.bind != nil {
		made, err := s.bindTag(b)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", codecs.ErrUnsupported, err)
		}
		tag = edit.Give(codecs.StepBind, made)
	}
	return s.appendClaims(make([]byte, 0, 96+len(state)*9/8), state, float64(now.Unix())+s.ttl.Seconds(), tag)
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
