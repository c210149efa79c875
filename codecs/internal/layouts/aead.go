// Package layouts writes and reads tokens step by step: a prefix followed by
// fields in base64url without padding (RFC 4648, section 5), joined or in
// dotted segments.
//
// A [Codec] has the layout that all AEAD designs share. With a nonce of n bytes and
// a payload of m,
//
//	token = prefix || base64url(key-id[4] || nonce[n] || ciphertext[m] || tag)
//	associated data = prefix || key-id
//
// so that format, version and key are authenticated with the payload. A
// [SignedCodec] has the layout of designs with a readable payload: see
// [Signed]. The design provides the cipher or signer, its limits and its
// guarantees.
package layouts

import (
	"crypto/cipher"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/internal/lab"
)

const idSize = len(keyring.ID{})

// The refusals, with the reasons that the Python SDK logs.
var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errUnknownKey  = codecs.Reject(codecs.UnknownKey, "unknown key")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "seal")
)

// A Format has the parameters of the layout.
type Format struct {
	Prefix    string
	NonceSize int // in bytes; 0 for a deterministic AEAD
	TagSize   int // in bytes
	BlockSize int // in bytes, if plaintexts are padded as in PKCS #7; else 0
}

// TokenSize returns the length of the token of an m-byte payload.
func (f Format) TokenSize(m int) int {
	return len(f.Prefix) + base64url.EncodedLen(f.rawSize(m))
}

func (f Format) rawSize(m int) int {
	if f.BlockSize > 0 {
		m += f.BlockSize - m%f.BlockSize
	}
	return idSize + f.NonceSize + m + f.TagSize
}

// A Codec seals with one AEAD per key of a ring.
type Codec struct {
	format Format
	ring   *keyring.Ring[*key]
}

// key is an AEAD with the associated data of its tokens.
type key struct {
	cipher.AEAD
	data []byte // prefix || key-id
}

// An AEAD describes a design whose tokens have the layout of a Format.
type AEAD struct {
	Format
	Label  string                                // of the derivation of keys; see package keyring
	Cipher func(key []byte) (cipher.AEAD, error) // opens a derived key, which it must not keep
}

// New returns the codec for a ring of secrets.
func (a AEAD) New(secrets ...[]byte) (*Codec, error) {
	ring, err := keyring.New(secrets, a.Label, func(k []byte, id keyring.ID) (*key, error) {
		return a.key(k, id, a.Cipher)
	})
	if err != nil {
		return nil, err
	}
	return &Codec{a.Format, ring}, nil
}

// NewDerived returns the codec of a format with its own key schedule. derive
// returns the key and the key ID of a secret, and checks its strength.
func NewDerived(f Format, secrets [][]byte, derive func(secret []byte) (keyring.ID, []byte, error), newAEAD func(key []byte) (cipher.AEAD, error)) (*Codec, error) {
	ring, err := keyring.Index(secrets, func(secret []byte) (keyring.ID, *key, error) {
		id, k, err := derive(secret)
		//mutant:equivalent the call cannot fail with these arguments
		if err != nil {
			return id, nil, err
		}
		ready, err := f.key(k, id, newAEAD)
		return id, ready, err
	})
	if err != nil {
		return nil, err
	}
	return &Codec{f, ring}, nil
}

func (f Format) key(k []byte, id keyring.ID, newAEAD func([]byte) (cipher.AEAD, error)) (*key, error) {
	a, err := newAEAD(k)
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	//mutant:equivalent the call cannot fail with these arguments
	if a.NonceSize() != f.NonceSize || a.Overhead() != f.BlockSize+f.TagSize {
		return nil, fmt.Errorf("the AEAD has a nonce of %d and an overhead of %d bytes, want %d and %d",
			a.NonceSize(), a.Overhead(), f.NonceSize, f.BlockSize+f.TagSize)
	}
	return &key{a, append([]byte(f.Prefix), id[:]...)}, nil
}

// Seal implements codecs.Codec with a random nonce.
func (c *Codec) Seal(dst, payload []byte) ([]byte, error) {
	return c.seal(dst, nil, payload), nil
}

// SeedSize implements lab.Seeded: the seed is the nonce.
func (c assembler) SeedSize() int { return c.format.NonceSize }

// SealSeeded implements lab.Seeded.
func (c assembler) SealSeeded(dst, seed, payload []byte) ([]byte, error) {
	if len(seed) != c.format.NonceSize {
		return dst, fmt.Errorf("the seed has %d bytes, want %d", len(seed), c.format.NonceSize)
	}
	return c.seal(dst, seed, payload), nil
}

// SealUnder is Seal under a nonce that the caller has drawn. It is not a method,
// so that users of a design cannot repeat a nonce.
func SealUnder(c *Codec, dst, nonce, payload []byte) []byte { return c.seal(dst, nonce, payload) }

// seal seals under nonce, or under a random nonce if it is nil.
func (c *Codec) seal(dst, nonce, payload []byte) []byte {
	k := c.ring.First()
	s := base64url.GetInner()
	defer s.Free()
	s.Grow(c.format.rawSize(len(payload)))
	s.Bytes = append(s.Bytes, k.ID[:]...)
	s.Bytes = s.Bytes[:idSize+c.format.NonceSize]
	if nonce == nil {
		keyring.Random(s.Bytes[idSize:])
	} else {
		copy(s.Bytes[idSize:], nonce)
	}
	s.Bytes = k.Key.Seal(s.Bytes, s.Bytes[idSize:], payload, k.Key.data)
	dst = append(slices.Grow(dst, c.format.TokenSize(len(payload))), c.format.Prefix...)
	return base64url.AppendEncode(dst, s.Bytes)
}

// Unseal implements codecs.Codec.
func (c *Codec) Unseal(dst, token []byte) ([]byte, error) {
	s := base64url.GetInner()
	defer s.Free()
	if !s.DecodeToken(c.format.Prefix, token, c.format.rawSize(0)) {
		return dst, errMalformed
	}
	k := c.ring.Lookup(s.Bytes[:idSize])
	if k == nil {
		return dst, errUnknownKey
	}
	nonce, sealed := s.Bytes[idSize:idSize+c.format.NonceSize], s.Bytes[idSize+c.format.NonceSize:]
	out, err := k.Key.Open(dst, nonce, sealed, k.Key.data)
	if err != nil {
		return dst, errUnauthentic
	}
	return out, nil
}

// The fields after the prefix, with and without a nonce.
var (
	layout        = Layout{lab.WireKeyID, lab.WireNonce, lab.WireBody, lab.WireTag}
	deterministic = Layout{lab.WireKeyID, lab.WireBody, lab.WireTag}
)

// An assembler seals step by step for internal/lab. Only the catalog row opens
// one: Codec lacks these methods.
type assembler struct{ *Codec }

// Design completes a row of the catalog, which names the cipher and its limits.
// guarantees are those that depend on the cipher.
func (a AEAD) Design(d codecs.Design, guarantees ...[]codecs.Guarantee) codecs.Design {
	d.Prefix = a.Prefix
	d.NewCodec = func(c codecs.Config) (codecs.Codec, error) { return ForLab(a.New(c.Secrets...)) }
	hooks := d.Hooks.(*lab.Hooks)
	hooks.TokenSize, hooks.Inspect, hooks.Bare = a.TokenSize, a.Inspect, a.Cipher
	hooks.Facts.NonceBits = 8 * a.NonceSize
	all := [][]codecs.Guarantee{common(), guarantee.Symmetric}
	if a.NonceSize > 0 {
		all = append(all, codecs.Holds(codecs.Confidentiality))
	}
	d.Guarantees = codecs.Always(append(all, guarantees...)...)
	return d
}

// common returns the guarantees that every layout of this package gives.
func common() []codecs.Guarantee {
	return slices.Concat(keyring.Guarantees(), codecs.Holds(codecs.Integrity, codecs.Canonical, codecs.Rotation,
		codecs.KeySeparation, codecs.UniformRefusal, codecs.Total, codecs.ByteExact, codecs.StrongKeys))
}

// ForLab wraps the result of New in the codec of a catalog row, which
// internal/lab can seal with step by step.
func ForLab(c *Codec, err error) (codecs.Codec, error) {
	if err != nil {
		return nil, err
	}
	return assembler{c}, nil
}

// Edited returns c for internal/lab, which can seal with it step by step.
func Edited(c *Codec) lab.Assembler { return assembler{c} }

// SealEdited implements lab.Assembler. If an edit changes the length of the
// nonce, the error is codecs.ErrUnsupported. An edit of lab.WireNonce can write
// a nonce of any length into a token.
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

// Inspect splits a token of the format into fields.
func (f Format) Inspect(token []byte) ([]lab.Field, error) {
	pieces := []Piece{{Name: lab.WireKeyID, Bytes: idSize, Readable: true}, {Name: lab.WireNonce, Bytes: f.NonceSize},
		{Name: lab.WireBody, Bytes: f.BlockSize}, {Name: lab.WireTag, Bytes: f.TagSize}}
	if f.NonceSize == 0 {
		pieces = slices.Delete(pieces, 1, 2)
	}
	return ParseJoined(f.Prefix, token, pieces...)
}
