package hpkesession

import (
	"bytes"
	"fmt"

	"sealab/codecs"
	"sealab/codecs/b64"
	"sealab/codecs/hpke"
)

// SealEdited implements codecs.Assembler. An encapsulation without a shared
// secret, an empty key-id (HPKE has no empty psk_id) and a nonce of another
// length are codecs.ErrUnsupported; all of them go on the wire by an edit of
// the wire steps.
func (c *Codec) SealEdited(dst, seed, payload []byte, edit codecs.Edit) ([]byte, error) {
	if len(seed) != c.SeedSize() {
		return dst, fmt.Errorf("sealab: the seed has %d bytes, want %d", len(seed), c.SeedSize())
	}
	k := c.ring.First().Key
	enc, _, err := k.Encapsulate(seed[:hpke.SeedSize])
	if err != nil {
		return dst, err
	}
	head := edit(codecs.StepPrefix, bytes.Clone(prefixBytes))
	id := edit(codecs.StepKeyID, bytes.Clone(k.ID[:]))
	enc = edit(codecs.StepEnc, enc)
	nonce := edit(codecs.StepNonce, bytes.Clone(seed[hpke.SeedSize:]))
	payload = edit(codecs.StepPayload, bytes.Clone(payload))
	data := edit(codecs.StepAAD, append(bytes.Clone(head), id...))
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

	head = edit(codecs.WirePrefix, head)
	raw := edit(codecs.WireKeyID, bytes.Clone(id))
	raw = append(raw, edit(codecs.WireEnc, bytes.Clone(enc))...)
	raw = append(raw, edit(codecs.WireNonce, bytes.Clone(nonce))...)
	raw = append(raw, edit(codecs.WireBody, bytes.Clone(body))...)
	raw = append(raw, edit(codecs.WireTag, bytes.Clone(tag))...)
	dst = append(dst, head...)
	return append(dst, edit(codecs.WireText, b64.AppendEncode(nil, raw))...), nil
}

// inspect takes a token apart.
func inspect(token []byte) ([]codecs.Field, error) {
	text, raw, err := b64.Parse(prefix, minRaw, token)
	if err != nil {
		return nil, err
	}
	body, tag := headSize+nonceSize, len(raw)-tagSize
	return []codecs.Field{
		{Name: codecs.WirePrefix, Wire: prefixBytes, Bytes: prefixBytes, Readable: true},
		{Name: codecs.WireKeyID, Wire: text, Bytes: raw[:idSize], Readable: true},
		{Name: codecs.WireEnc, Bytes: raw[idSize:headSize]},
		{Name: codecs.WireNonce, Bytes: raw[headSize:body]},
		{Name: codecs.WireBody, Bytes: raw[body:tag]},
		{Name: codecs.WireTag, Bytes: raw[tag:]},
	}, nil
}
