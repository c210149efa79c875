package layouts

import (
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/internal/lab"
)

// A Signed describes a design whose tokens hold a readable payload and a tag,
// which is a MAC or a signature. With a payload of m bytes,
//
//	token = prefix || base64url(key-id[4] || payload[m] || tag)
//	tagged message = prefix || key-id || payload
//
// The tag is last and has a fixed length, so a token can be split into fields
// in only one way.
type Signed struct {
	Prefix  string
	TagSize int    // in bytes
	Label   string // of the derivation of keys; see package keyring
	// Signer opens a derived key, which it must not keep.
	Signer func(key []byte, id keyring.ID) (Signer, error)
}

// A Signer makes and verifies tags under one key.
type Signer interface {
	Verifier
	// Sign appends the tag of a message to dst.
	Sign(dst, message []byte) ([]byte, error)
}

// A Verifier verifies tags under one key.
type Verifier interface {
	// Verify returns nil or a refusal. It does not return a bool, so that the
	// function that compares tags also branches on the result, where the taint
	// analysis finds both.
	Verify(message, tag []byte) error
}

// A SignedVerifier unseals tokens under a ring of keys.
type SignedVerifier struct {
	format *Signed
	ring   *keyring.Ring[Verifier]
}

// A SignedCodec signs with the first key of its ring.
type SignedCodec struct {
	SignedVerifier
	signer keyring.Entry[Signer]
}

// New returns the codec for a ring of secrets.
func (f Signed) New(secrets ...[]byte) (*SignedCodec, error) {
	c := &SignedCodec{SignedVerifier: SignedVerifier{format: &f}}
	var err error
	c.ring, err = keyring.New(secrets, f.Label, func(key []byte, id keyring.ID) (Verifier, error) {
		s, err := f.Signer(key, id)
		if c.signer.Key == nil {
			c.signer = keyring.Entry[Signer]{ID: id, Key: s}
		}
		return s, err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Verifier returns the verifier for a ring.
func (f Signed) Verifier(ring *keyring.Ring[Verifier]) *SignedVerifier {
	return &SignedVerifier{&f, ring}
}

// minRaw returns the number of bytes of a token besides its payload.
func (f *Signed) minRaw() int { return idSize + f.TagSize }

// TokenSize returns the length of the token of an m-byte payload.
func (f *Signed) TokenSize(m int) int { return len(f.Prefix) + base64url.EncodedLen(f.minRaw()+m) }

// Seal implements codecs.Codec.
func (c *SignedCodec) Seal(dst, payload []byte) ([]byte, error) {
	f := c.format
	s := base64url.GetInner()
	defer s.Free()
	s.Grow(len(f.Prefix) + f.minRaw() + len(payload))
	s.Bytes = append(s.Bytes, f.Prefix...)
	s.Bytes = append(s.Bytes, c.signer.ID[:]...)
	s.Bytes = append(s.Bytes, payload...)
	var err error
	if s.Bytes, err = c.signer.Key.Sign(s.Bytes, s.Bytes); err != nil {
		return dst, err
	}
	dst = append(slices.Grow(dst, f.TokenSize(len(payload))), f.Prefix...)
	return base64url.AppendEncode(dst, s.Bytes[len(f.Prefix):]), nil
}

// Unseal implements codecs.Codec.
func (v *SignedVerifier) Unseal(dst, token []byte) ([]byte, error) {
	f := v.format
	s := base64url.GetInner()
	defer s.Free()
	s.Bytes = append(s.Bytes, f.Prefix...)
	if !s.DecodeToken(f.Prefix, token, len(f.Prefix)+f.minRaw()) {
		return dst, errMalformed
	}
	head := len(f.Prefix) + idSize
	k := v.ring.Lookup(s.Bytes[len(f.Prefix):head])
	if k == nil {
		return dst, errUnknownKey
	}
	n := len(s.Bytes) - f.TagSize
	if err := k.Key.Verify(s.Bytes[:n], s.Bytes[n:]); err != nil {
		return dst, err
	}
	return append(dst, s.Bytes[head:n]...), nil
}

// A signedAssembler seals step by step for internal/lab. Only catalog rows open
// one: SignedCodec lacks these methods.
type signedAssembler struct{ *SignedCodec }

// Design completes a row of the catalog, which names the algorithm. guarantees
// are those that depend on it.
func (f Signed) Design(d codecs.Design, guarantees ...[]codecs.Guarantee) codecs.Design {
	d.Prefix = f.Prefix
	d.NewCodec = func(c codecs.Config) (codecs.Codec, error) {
		codec, err := f.New(c.Secrets...)
		if err != nil {
			return nil, err
		}
		return signedAssembler{codec}, nil
	}
	hooks := d.Hooks.(*lab.Hooks)
	hooks.TokenSize, hooks.Inspect = f.TokenSize, f.Inspect
	d.Guarantees = codecs.Always(append([][]codecs.Guarantee{common(),
		guarantee.NoNonce,
		codecs.Disclaims(codecs.Confidentiality, "the payload is readable, and equal payloads give equal tokens"),
		guarantee.EqualPayloads,
	}, guarantees...)...)
	return d
}

// SeedSize implements lab.Seeded. Sealing is deterministic.
func (c signedAssembler) SeedSize() int { return 0 }

// SealSeeded implements lab.Seeded.
func (c signedAssembler) SealSeeded(dst, seed, payload []byte) ([]byte, error) {
	if len(seed) != 0 {
		return dst, fmt.Errorf("the seed has %d bytes, want 0", len(seed))
	}
	return c.Seal(dst, payload)
}

// SealEdited implements lab.Assembler.
func (c signedAssembler) SealEdited(dst, seed, payload []byte, edit lab.Edit) ([]byte, error) {
	if len(seed) != 0 {
		return dst, fmt.Errorf("the seed has %d bytes, want 0", len(seed))
	}
	prefix := edit.Apply(lab.StepPrefix, []byte(c.format.Prefix))
	id := edit.Apply(lab.StepKeyID, c.signer.ID[:])
	payload = edit.Apply(lab.StepPayload, payload)
	tag, err := c.signer.Key.Sign(nil, slices.Concat(prefix, id, payload))
	if err != nil {
		return dst, err
	}
	return deterministic.Append(dst, edit, prefix, id, payload, edit.Give(lab.StepTag, tag)), nil
}

// Inspect splits a token of the format into fields.
func (f *Signed) Inspect(token []byte) ([]lab.Field, error) {
	return ParseJoined(f.Prefix, token, Piece{Name: lab.WireKeyID, Bytes: idSize, Readable: true},
		Piece{Name: lab.WireBody, Readable: true}, Piece{Name: lab.WireTag, Bytes: f.TagSize})
}
