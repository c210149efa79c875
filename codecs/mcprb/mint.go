package mcprb

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

// Mint implements codecs.Scheme.
func (s *Scheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	room := base64url.GetScratch()
	defer room.Free()
	room.Grow(ivSize)
	seed := room.Bytes[:ivSize]
	keyring.Random(seed)
	return s.mint(dst, seed, state, b, nil)
}

// layout has the fields after the prefix.
var layout = layouts.Layout{lab.WireNonce, lab.WireBody, lab.WireTag}

// mint mints step by step; the seed is the iv. An iv that an edit leaves with
// another length than the cipher takes is codecs.ErrUnsupported.
func (s *Scheme) mint(dst, seed, state []byte, b *codecs.Context, edit lab.Edit) ([]byte, error) {
	if err := b.Check(); err != nil {
		return dst, err
	}
	work, out := base64url.GetScratch(), base64url.GetScratch()
	defer work.Wipe(0)
	defer out.Free()
	text, err := s.claims(work, state, b)
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
	out.Grow(len(text) + tagSize)
	sealed := s.aead.Seal(out.Bytes, iv, text, data)
	body, tag := sealed[:len(text)], sealed[len(text):]

	return layout.Append(dst, edit, head, iv, body, tag), nil
}

// claims appends the JSON that is sealed to work and returns it.
func (s *Scheme) claims(work *base64url.Scratch, state []byte, b *codecs.Context) ([]byte, error) {
	work.Grow(256 + len(state)*9/8)
	digest, err := s.digest(work.Bytes, b.Arguments)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", codecs.ErrUnsupported, err)
	}
	valid := utf8.ValidString(b.Method) && utf8.ValidString(b.Target) && (b.Audience == nil || utf8.ValidString(*b.Audience))
	if !valid || !utf8.Valid(digest) || !utf8.Valid(state) {
		return nil, codecs.ErrUnsupported
	}
	literal := strconv.AppendInt(digest, b.Now.Unix()+int64(s.ttl/time.Second), 10)
	c := claims{
		expires: literal[len(digest):],
		method:  b.Method, target: b.Target, digest: digest, audience: b.Audience, state: state,
	}
	work.Bytes = c.append(literal)
	return work.Bytes[len(literal):], nil
}

// claims are the sealed members.
type claims struct {
	expires        []byte // an integer's literal
	method, target string
	digest, state  []byte
	audience       *string
}

const beforeExpires = `{"v":1,"exp":`

// append appends c as JSON.generate writes it.
func (c *claims) append(dst []byte) []byte {
	dst = append(append(dst, beforeExpires...), c.expires...)
	dst = appendRequest(dst, c.method, c.target, c.digest, c.audience)
	return append(generate.Append(dst, c.state), '}')
}

// appendRequest appends the claims between the expiry and the state.
func appendRequest(dst []byte, method, target string, digest []byte, audience *string) []byte {
	dst = generate.AppendText(append(dst, `,"m":`...), method)
	dst = generate.AppendText(append(dst, `,"t":`...), target)
	dst = generate.Append(append(dst, `,"a":`...), digest)
	if audience != nil {
		dst = generate.AppendText(append(dst, `,"aud":`...), *audience)
	}
	return append(dst, `,"s":`...)
}
