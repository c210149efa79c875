package layouts

import (
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/internal/lab"
)

// The fields behind the prefix, with a nonce and without.
var (
	layout        = Layout{lab.WireKeyID, lab.WireNonce, lab.WireBody, lab.WireTag}
	deterministic = Layout{lab.WireKeyID, lab.WireBody, lab.WireTag}
)

// An assembler is a Codec that internal/lab can seal step by step. Only the
// catalog's row opens one: Codec has no such methods.
type assembler struct{ *Codec }

// ForLab returns the codec of a row: as New returns it, and internal/lab can seal
// with it step by step.
func ForLab(c *Codec, err error) (codecs.Codec, error) {
	if err != nil {
		return nil, err
	}
	return assembler{c}, nil
}

// SealEdited implements lab.Assembler. A nonce that an edit leaves with
// another length than the cipher takes is codecs.ErrUnsupported; nonces of any
// length go on the wire by an edit of lab.WireNonce.
func (c assembler) SealEdited(dst, seed, payload []byte, edit lab.Edit) ([]byte, error) {
	if len(seed) != c.format.NonceSize {
		return dst, fmt.Errorf("the seed has %d bytes, want %d", len(seed), c.format.NonceSize)
	}
	k := c.ring.First()
	prefix := edit.Give(lab.StepPrefix, []byte(c.format.Prefix))
	id := edit.Apply(lab.StepKeyID, k.ID[:])
	nonce := seed
	if len(seed) > 0 {
		nonce = edit.Apply(lab.StepNonce, seed)
	}
	payload = edit.Apply(lab.StepPayload, payload)
	data := edit.Give(lab.StepAAD, slices.Concat(prefix, id))
	if len(nonce) != c.format.NonceSize {
		return dst, codecs.ErrUnsupported
	}
	sealed := k.Key.Seal(nil, nonce, payload, data)
	n := len(sealed) - c.format.TagSize
	if len(nonce) == 0 {
		return deterministic.Append(dst, edit, prefix, id, sealed[:n], sealed[n:]), nil
	}
	return layout.Append(dst, edit, prefix, id, nonce, sealed[:n], sealed[n:]), nil
}

// Inspect takes a token of the format apart.
func (f Format) Inspect(token []byte) ([]lab.Field, error) {
	text, raw, err := base64url.Parse(f.Prefix, f.rawSize(0), token)
	if err != nil {
		return nil, err
	}
	n, tag := idSize+f.NonceSize, len(raw)-f.TagSize
	fields := []lab.Field{
		{Name: lab.WirePrefix, Wire: []byte(f.Prefix), Bytes: []byte(f.Prefix), Readable: true},
		{Name: lab.WireKeyID, Wire: text, Bytes: raw[:idSize], Readable: true},
	}
	if f.NonceSize > 0 {
		fields = append(fields, lab.Field{Name: lab.WireNonce, Bytes: raw[idSize:n]})
	}
	return append(fields,
		lab.Field{Name: lab.WireBody, Bytes: raw[n:tag]},
		lab.Field{Name: lab.WireTag, Bytes: raw[tag:]}), nil
}
