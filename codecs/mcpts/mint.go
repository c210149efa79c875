package mcpts

import (
	"bytes"
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/codecs/b64"
)

// unbound is the binding where the caller has none.
var unbound codecs.Binding

// unchanged is the edit that leaves everything as it is.
func unchanged(_ codecs.Step, value []byte) []byte { return value }

// Mint implements codecs.Scheme. Minting is deterministic.
func (s *Scheme) Mint(dst, state []byte, b *codecs.Binding, now time.Time) ([]byte, error) {
	return s.mint(dst, state, b, now, unchanged)
}

// SeedSize implements codecs.SeededScheme: there is nothing random in a token.
func (s *Scheme) SeedSize() int { return 0 }

// MintSeeded implements codecs.SeededScheme.
func (s *Scheme) MintSeeded(dst, seed, state []byte, b *codecs.Binding, now time.Time) ([]byte, error) {
	return s.MintEdited(dst, seed, state, b, now, unchanged)
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
	head := edit(codecs.StepPrefix, []byte(prefix))
	claims = edit(codecs.StepClaims, claims)
	body := edit(codecs.StepText, b64.AppendEncode(nil, claims))
	tag := edit(codecs.StepTag, s.mac(head, encodeText(body)))

	dst = append(dst, edit(codecs.WirePrefix, bytes.Clone(head))...)
	dst = append(dst, edit(codecs.WireText, bytes.Clone(body))...)
	dst = append(dst, edit(codecs.WireSep, []byte(separator))...)
	tag = edit(codecs.WireTag, bytes.Clone(tag))
	return append(dst, edit(codecs.WireText, b64.AppendEncode(nil, tag))...), nil
}

// claims returns the JSON that is signed.
func (s *Scheme) claims(state []byte, b *codecs.Binding, now time.Time, edit codecs.Edit) ([]byte, error) {
	payload, err := s.payload.fromState(state)
	if err != nil {
		return nil, err
	}
	c := claims{payload: payload, expires: float64(now.Unix()) + s.ttl.Seconds()}
	if s.bind != nil {
		tag, err := s.bindTag(b)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", codecs.ErrUnsupported, err)
		}
		c.tag = edit(codecs.StepBind, tag)
	}
	return c.append(make([]byte, 0, 64+len(payload))), nil
}

// claims are what is signed.
type claims struct {
	payload []byte // JSON text
	expires float64
	tag     []byte // nil: none
}

// append appends what JSON.stringify makes of c.
func (c *claims) append(dst []byte) []byte {
	dst = append(append(dst, `{"p":`...), c.payload...)
	dst = appendNumber(append(dst, `,"exp":`...), c.expires)
	if c.tag != nil {
		dst = stringify.AppendString(append(dst, `,"b":`...), c.tag)
	}
	return append(dst, '}')
}
