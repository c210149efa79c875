package hpkesession

import (
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errNotOneForm  = codecs.Reject(codecs.Malformed, "encapsulation")
	errUnknownKey  = codecs.Reject(codecs.UnknownKey, "unknown key")
	errLowOrder    = codecs.Reject(codecs.Unauthentic, "encapsulation")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "seal")
)

// Seal implements codecs.Codec. It fails only if the HPKE implementation fails.
func (c *Codec) Seal(dst, payload []byte) ([]byte, error) {
	s, err := c.current.session()
	if err != nil {
		return dst, err
	}
	return s.seal(dst, nil, payload), nil
}

// SeedSize implements lab.Seeded: the seed is ikmE of RFC 9180, from which
// the encapsulation is derived, and the nonce.
func (c assembler) SeedSize() int { return c.kem.SeedSize + nonceSize }

// SealSeeded implements lab.Seeded. It sets up a context for the token.
func (c assembler) SealSeeded(dst, seed, payload []byte) ([]byte, error) {
	if len(seed) != c.SeedSize() {
		return dst, fmt.Errorf("the seed has %d bytes, want %d", len(seed), c.SeedSize())
	}
	s, err := encapsulate(c.ring.First().Key, seed[:c.kem.SeedSize])
	if err != nil {
		return dst, err
	}
	return s.seal(dst, seed[c.kem.SeedSize:], payload), nil
}

// seal seals under nonce, or under a random nonce if it is nil.
func (s *session) seal(dst, nonce, payload []byte) []byte {
	raw := base64url.GetScratch()
	defer raw.Free()
	head := s.key.headSize()
	raw.Grow(s.key.minRaw() + len(payload))
	raw.Bytes = append(raw.Bytes, s.key.ID[:]...)
	raw.Bytes = append(raw.Bytes, s.enc...)
	raw.Bytes = raw.Bytes[:head+nonceSize]
	if nonce == nil {
		keyring.Random(raw.Bytes[head:])
	} else {
		copy(raw.Bytes[head:], nonce)
	}
	raw.Bytes = s.token.Seal(raw.Bytes, raw.Bytes[head:], payload, s.key.data)
	dst = append(dst, s.key.prefix...)
	return base64url.AppendEncode(dst, raw.Bytes)
}

// Unseal implements codecs.Codec.
func (c *Codec) Unseal(dst, token []byte) ([]byte, error) {
	raw := base64url.GetScratch()
	defer raw.Free()
	if !raw.DecodeToken(c.prefix, token, c.minRaw()) {
		return dst, errMalformed
	}
	head := c.headSize()
	id, enc, rest := raw.Bytes[:idSize], raw.Bytes[idSize:head], raw.Bytes[head:]
	if !c.kem.Canonical(enc) {
		return dst, errNotOneForm
	}
	k := c.ring.Lookup(id)
	if k == nil {
		return dst, errUnknownKey
	}
	if s := c.known.get(k.Key, enc); s != nil {
		return s.open(dst, rest)
	}
	return c.meet(dst, k.Key, enc, rest)
}

// meet opens a token whose encapsulation is not cached. It caches the session
// if the tag verifies.
func (c *Codec) meet(dst []byte, k *ringKey, enc, rest []byte) ([]byte, error) {
	ctx, err := k.Decapsulate(enc)
	if err != nil {
		return dst, errLowOrder
	}
	s, err := newSession(k, enc, ctx)
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return dst, err
	}
	out, err := s.open(dst, rest)
	if err != nil {
		return dst, err
	}
	c.known.put(s)
	return out, nil
}

// open appends the payload to dst, from the bytes after a token's encapsulation.
func (s *session) open(dst, rest []byte) ([]byte, error) {
	out, err := s.token.Open(dst, rest[:nonceSize], rest[nonceSize:], s.key.data)
	if err != nil {
		return dst, errUnauthentic
	}
	return out, nil
}

// layout lists the fields after the prefix.
var layout = layouts.Layout{lab.WireKeyID, lab.WireEnc, lab.WireNonce, lab.WireBody, lab.WireTag}

// An assembler seals step by step for internal/lab. Only the catalog row opens
// one: Codec lacks these methods.
type assembler struct{ *Codec }

// forLab returns the codec of a catalog row.
func forLab(c *Codec, err error) (codecs.Codec, error) {
	if err != nil {
		return nil, err
	}
	return assembler{c}, nil
}

// SealEdited implements lab.Assembler. If an edit makes an encapsulation
// without a shared secret, an empty key-id (HPKE has no empty psk_id) or a
// nonce of another length, the error is codecs.ErrUnsupported. An edit of a
// wire step can write any of them into a token.
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

// inspect splits a token into fields.
func (v *variant) inspect(token []byte) ([]lab.Field, error) {
	return layouts.ParseJoined(v.prefix, token, layouts.Piece{Name: lab.WireKeyID, Bytes: idSize, Readable: true},
		layouts.Piece{Name: lab.WireEnc, Bytes: v.headSize() - idSize}, layouts.Piece{Name: lab.WireNonce, Bytes: nonceSize},
		layouts.Piece{Name: lab.WireBody}, layouts.Piece{Name: lab.WireTag, Bytes: tagSize})
}
