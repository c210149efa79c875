package hpkepsk

import (
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/hpkekeys"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

// layout lists the fields after the prefix.
var layout = layouts.Layout{lab.WireKeyID, lab.WireEnc, lab.WireBody, lab.WireTag}

// An assembler seals step by step for internal/lab. Only the catalog row opens
// one: Codec lacks these methods.
type assembler struct{ *Codec }

// SeedSize implements lab.Seeded: the seed is ikmE of RFC 9180, from which the
// ephemeral key pair is derived.
func (c assembler) SeedSize() int { return hpkekeys.SeedSize }

// SealSeeded implements lab.Seeded.
func (c assembler) SealSeeded(dst, seed, payload []byte) ([]byte, error) {
	return c.sealSeeded(dst, seed, payload)
}

// SealEdited implements lab.Assembler. If an edit makes an encapsulation
// without a shared secret or an empty key-id (HPKE has no empty psk_id), the
// error is codecs.ErrUnsupported. An edit of a wire step can write either into
// a token.
func (c assembler) SealEdited(dst, seed, payload []byte, edit lab.Edit) ([]byte, error) {
	if len(seed) != hpkekeys.SeedSize {
		return dst, fmt.Errorf("the seed has %d bytes, want %d", len(seed), hpkekeys.SeedSize)
	}
	k := c.ring.First().Key
	enc, _, err := k.Encapsulate(seed)
	if err != nil {
		return dst, err
	}
	head := edit.Apply(lab.StepPrefix, []byte(prefix))
	id := edit.Apply(lab.StepKeyID, k.ID[:])
	enc = edit.Apply(lab.StepEnc, enc)
	payload = edit.Apply(lab.StepPayload, payload)
	data := edit.Give(lab.StepAAD, slices.Concat(head, id))
	ctx, err := k.SealerFor(enc, id)
	if err != nil {
		return dst, codecs.ErrUnsupported
	}
	sealed, err := ctx.Seal(payload, data)
	if err != nil {
		return dst, fmt.Errorf("hpke: %w", err)
	}
	body, tag := sealed[:len(payload)], sealed[len(payload):]

	return layout.Append(dst, edit, head, id, enc, body, tag), nil
}

// inspect splits a token into fields.
func inspect(token []byte) ([]lab.Field, error) {
	return layouts.ParseJoined(prefix, token, layouts.Piece{Name: lab.WireKeyID, Bytes: idSize, Readable: true},
		layouts.Piece{Name: lab.WireEnc, Bytes: hpkekeys.EncSize},
		layouts.Piece{Name: lab.WireBody}, layouts.Piece{Name: lab.WireTag, Bytes: tagSize})
}
