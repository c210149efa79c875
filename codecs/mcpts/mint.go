package mcpts

import (
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/stringify"
	"sealab/internal/lab"
)

// Mint implements codecs.Scheme. Minting is deterministic.
func (s *Scheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	return s.mint(dst, nil, state, b, nil)
}

func (s *Scheme) mint(dst, _, state []byte, b *codecs.Context, edit lab.Edit) ([]byte, error) {
	if err := b.Check(); err != nil {
		return dst, err
	}
	work := base64url.GetScratch()
	defer work.Free()
	claims, err := s.claims(work, state, b, edit)
	if err != nil {
		return dst, err
	}
	head := edit.Apply(lab.StepPrefix, prefixBytes)
	claims = edit.Give(lab.StepClaims, claims)
	n := len(work.Bytes)
	work.Bytes = base64url.AppendEncode(work.Bytes, claims)
	body := edit.Give(lab.StepText, work.Bytes[n:])
	n = len(work.Bytes)
	work.Bytes = s.mac.Append(work.Bytes, head, encodeText(body))
	tag := edit.Give(lab.StepTag, work.Bytes[n:])

	dst = slices.Grow(dst, len(head)+len(body)+len(separator)+base64url.EncodedLen(len(tag)))
	dst = append(dst, edit.Apply(lab.WirePrefix, head)...)
	dst = append(dst, edit.Apply(lab.WireText, body)...)
	dst = append(dst, edit.Apply(lab.WireSep, separatorBytes)...)
	tag = edit.Apply(lab.WireTag, tag)
	return edit.Tail(lab.WireText, base64url.AppendEncode(dst, tag), len(dst)), nil
}

// claims appends the JSON that is signed to work and returns it.
func (s *Scheme) claims(work *base64url.Scratch, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	var tag []byte
	if s.bind != nil {
		made, err := s.appendBindTag(work.Bytes, c)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", codecs.ErrUnsupported, err)
		}
		work.Bytes = made
		tag = edit.Give(lab.StepBind, made)
	}
	n := len(work.Bytes)
	work.Grow(96 + len(state)*9/8)
	text, err := s.appendClaims(work.Bytes, state, float64(c.Now.Unix())+s.ttl.Seconds(), tag)
	if err != nil {
		return nil, err
	}
	work.Bytes = text
	return text[n:], nil
}

// The text around the claims.
const (
	beforePayload = `{"p":`
	beforeExpires = `,"exp":`
)

// appendClaims appends the claims as JSON.stringify writes them, without b if tag
// is nil.
func (s *Scheme) appendClaims(dst, state []byte, expires float64, tag []byte) ([]byte, error) {
	dst, err := s.payload.fromState(append(dst, beforePayload...), state)
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	dst = stringify.AppendNumber(append(dst, beforeExpires...), expires)
	if tag != nil {
		dst = stringify.Printer.Append(append(dst, `,"b":`...), tag)
	}
	return append(dst, '}'), nil
}
