package mcprb

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/wire"
	"sealab/internal/lab"
)

// Mint implements codecs.Scheme.
func (s *Scheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	seed := make([]byte, ivSize)
	keyring.Random(seed)
	return s.MintEdited(dst, seed, state, b, nil)
}

// SeedSize implements lab.SeededScheme: the seed is the iv.
func (s *Scheme) SeedSize() int { return ivSize }

// MintSeeded implements lab.SeededScheme.
func (s *Scheme) MintSeeded(dst, seed, state []byte, b *codecs.Context) ([]byte, error) {
	return s.MintEdited(dst, seed, state, b, nil)
}

// layout is what stands behind the prefix.
var layout = wire.Layout{lab.WireNonce, lab.WireBody, lab.WireTag}

// MintEdited implements lab.SchemeAssembler. An iv that an edit leaves with
// another length than the cipher takes is codecs.ErrUnsupported.
func (s *Scheme) MintEdited(dst, seed, state []byte, b *codecs.Context, edit lab.Edit) ([]byte, error) {
	if len(seed) != ivSize {
		return dst, fmt.Errorf("sealab: the seed has %d bytes, want %d", len(seed), ivSize)
	}
	if err := b.Check(); err != nil {
		return dst, err
	}
	text, err := s.claims(state, b)
	if err != nil {
		return dst, err
	}
	head := edit.Apply(lab.StepPrefix, prefixBytes)
	iv := edit.Apply(lab.StepNonce, seed)
	text = edit.Give(lab.StepClaims, text)
	data := edit.Apply(lab.StepAAD, head)
	if len(iv) != ivSize {
		return dst, codecs.ErrUnsupported
	}
	sealed := s.aead.Seal(make([]byte, 0, len(text)+tagSize), iv, text, data)
	body, tag := sealed[:len(text)], sealed[len(text):]

	return layout.Append(dst, edit, head, iv, body, tag), nil
}

// claims returns the JSON that is sealed.
func (s *Scheme) claims(state []byte, b *codecs.Context) ([]byte, error) {
	digest, err := s.digest(b.Arguments)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", codecs.ErrUnsupported, err)
	}
	c := claims{
		expires: strconv.FormatInt(b.Now.Unix()+int64(s.ttl/time.Second), 10),
		method:  []byte(b.Method), target: []byte(b.Target), digest: digest, state: state,
	}
	if b.Audience != nil {
		c.hasAudience, c.audience = true, []byte(*b.Audience)
	}
	for _, text := range [][]byte{c.method, c.target, c.digest, c.audience, c.state} {
		if !utf8.Valid(text) {
			return nil, codecs.ErrUnsupported
		}
	}
	return c.append(make([]byte, 0, 256+len(state))), nil
}

// claims are what is sealed.
type claims struct {
	expires                string // an integer's literal
	method, target, digest []byte
	hasAudience            bool
	audience, state        []byte
}

// append appends what JSON.generate makes of c.
func (c *claims) append(dst []byte) []byte {
	dst = append(append(dst, `{"v":1,"exp":`...), c.expires...)
	dst = generate.Append(append(dst, `,"m":`...), c.method)
	dst = generate.Append(append(dst, `,"t":`...), c.target)
	dst = generate.Append(append(dst, `,"a":`...), c.digest)
	if c.hasAudience {
		dst = generate.Append(append(dst, `,"aud":`...), c.audience)
	}
	return append(generate.Append(append(dst, `,"s":`...), c.state), '}')
}
