package hpkesession

import (
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

// layout has the fields after the prefix.
var layout = layouts.Layout{lab.WireKeyID, lab.WireEnc, lab.WireNonce, lab.WireBody, lab.WireTag}

// An assembler is a Codec that internal/lab can seal step by step. Only the
// catalog's row opens one: Codec has no such methods.
type assembler struct{ *Codec }

// forLab returns the codec of a row.
func forLab(c *Codec, err error) (codecs.Codec, error) {
	if err != nil {
		return nil, err
	}
	return assembler{c}, nil
}

// SealEdited implements lab.Assembler. An encapsulation without a shared
// secret, an empty key-id (HPKE has no empty psk_id) and a nonce of another
// length are codecs.ErrUnsupported; all of them go on the wire by an edit of
// the wire steps.
func (c assembler) SealEdited(dst, seed, payload []byte, edit lab.Edit) ([]byte, error) {
	if len(seed) != c.SeedSize() {
		return dst, fmt.Errorf("the seed has %d bytes, want %d", len(seed), c.SeedSize())
	}
	k := c.ring.First().Key
	enc, _, err := k.Encapsulate(seed[:c.kem.SeedSize])
	if err != nil {
		return dst, err
	}
	head := edit.Apply(lab.StepPrefix, []byte(c.prefix))
	id := edit.Apply(lab.StepKeyID, k.ID[:])
	enc = edit.Apply(lab.StepEnc, enc)
	nonce := edit.Apply(lab.StepNonce, seed[c.kem.SeedSize:])
	payload = edit.Apply(lab.StepPayload, payload)
	data := edit.Give(lab.StepAAD, slices.Concat(head, id))
	ctx, err := k.SealerFor(enc, id)
	if err != nil || len(nonce) != nonceSize {
		return dst, codecs.ErrUnsupported
	}
	s, err := newSession(k, enc, ctx)
	if err != nil {
		return dst, err
	}
	sealed := s.token.Seal(nil, nonce, payload, data)
	body, tag := sealed[:len(payload)], sealed[len(payload):]

	return layout.Append(dst, edit, head, id, enc, nonce, body, tag), nil
}

// inspect takes a token apart.
func (v *variant) inspect(token []byte) ([]lab.Field, error) {
	text, raw, err := base64url.Parse(v.prefix, v.minRaw(), token)
	if err != nil {
		return nil, err
	}
	head := v.headSize()
	body, tag := head+nonceSize, len(raw)-tagSize
	return []lab.Field{
		{Name: lab.WirePrefix, Wire: []byte(v.prefix), Bytes: []byte(v.prefix), Readable: true},
		{Name: lab.WireKeyID, Wire: text, Bytes: raw[:idSize], Readable: true},
		{Name: lab.WireEnc, Bytes: raw[idSize:head]},
		{Name: lab.WireNonce, Bytes: raw[head:body]},
		{Name: lab.WireBody, Bytes: raw[body:tag]},
		{Name: lab.WireTag, Bytes: raw[tag:]},
	}, nil
}
