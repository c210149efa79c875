package aead

import (
	"bytes"
	"fmt"

	"sealab/codecs"
	"sealab/codecs/b64"
)

// SealEdited implements codecs.Assembler. A nonce that an edit leaves with
// another length than the cipher takes is codecs.ErrUnsupported; nonces of any
// length go on the wire by an edit of codecs.WireNonce.
func (c *Codec) SealEdited(dst, seed, payload []byte, edit codecs.Edit) ([]byte, error) {
	if len(seed) != c.format.NonceSize {
		return dst, fmt.Errorf("sealab: the seed has %d bytes, want %d", len(seed), c.format.NonceSize)
	}
	k := c.ring.First()
	prefix := edit(codecs.StepPrefix, []byte(c.format.Prefix))
	id := edit(codecs.StepKeyID, bytes.Clone(k.ID[:]))
	nonce := edit(codecs.StepNonce, bytes.Clone(seed))
	payload = edit(codecs.StepPayload, bytes.Clone(payload))
	data := edit(codecs.StepAAD, append(bytes.Clone(prefix), id...))
	if len(nonce) != c.format.NonceSize {
		return dst, codecs.ErrUnsupported
	}
	sealed := k.Key.Seal(nil, nonce, payload, data)
	body, tag := sealed[:len(payload)], sealed[len(payload):]

	prefix = edit(codecs.WirePrefix, prefix)
	raw := edit(codecs.WireKeyID, bytes.Clone(id))
	raw = append(raw, edit(codecs.WireNonce, bytes.Clone(nonce))...)
	raw = append(raw, edit(codecs.WireBody, bytes.Clone(body))...)
	raw = append(raw, edit(codecs.WireTag, bytes.Clone(tag))...)
	dst = append(dst, prefix...)
	return append(dst, edit(codecs.WireText, b64.AppendEncode(nil, raw))...), nil
}

// Inspect takes a token of the format apart.
func (f Format) Inspect(token []byte) ([]codecs.Field, error) {
	text, raw, err := b64.Parse(f.Prefix, f.rawSize(0), token)
	if err != nil {
		return nil, err
	}
	n, tag := idSize+f.NonceSize, len(raw)-TagSize
	return []codecs.Field{
		{Name: codecs.WirePrefix, Wire: []byte(f.Prefix), Bytes: []byte(f.Prefix), Readable: true},
		{Name: codecs.WireKeyID, Wire: text, Bytes: raw[:idSize], Readable: true},
		{Name: codecs.WireNonce, Bytes: raw[idSize:n]},
		{Name: codecs.WireBody, Bytes: raw[n:tag]},
		{Name: codecs.WireTag, Bytes: raw[tag:]},
	}, nil
}
