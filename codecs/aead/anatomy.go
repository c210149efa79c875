package aead

import (
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/b64"
	"sealab/codecs/wire"
)

// layout is what stands behind the prefix.
var layout = wire.Layout{codecs.WireKeyID, codecs.WireNonce, codecs.WireBody, codecs.WireTag}

// SealEdited implements codecs.Assembler. A nonce that an edit leaves with
// another length than the cipher takes is codecs.ErrUnsupported; nonces of any
// length go on the wire by an edit of codecs.WireNonce.
func (c *Codec) SealEdited(dst, seed, payload []byte, edit codecs.Edit) ([]byte, error) {
	if len(seed) != c.format.NonceSize {
		return dst, fmt.Errorf("sealab: the seed has %d bytes, want %d", len(seed), c.format.NonceSize)
	}
	k := c.ring.First()
	prefix := edit.Give(codecs.StepPrefix, []byte(c.format.Prefix))
	id := edit.Apply(codecs.StepKeyID, k.ID[:])
	nonce := edit.Apply(codecs.StepNonce, seed)
	payload = edit.Apply(codecs.StepPayload, payload)
	data := edit.Give(codecs.StepAAD, slices.Concat(prefix, id))
	if len(nonce) != c.format.NonceSize {
		return dst, codecs.ErrUnsupported
	}
	sealed := k.Key.Seal(nil, nonce, payload, data)
	body, tag := sealed[:len(payload)], sealed[len(payload):]

	return layout.Append(dst, edit, prefix, id, nonce, body, tag), nil
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
