package skeleton

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"sync/atomic"

	"sealab/codecs"
	"sealab/internal/lab"
)

// SealerParts are the parts of an encrypted codec,
//
//	token = "fe1." || base64url(key-id[4] || nonce[12] || ciphertext || tag[16])
//	associated data = "fe1." || key-id
type SealerParts struct {
	RingParts
	// Nonce returns the nonce of the n-th token (from 0) of this codec.
	Nonce func(n uint64, key, payload []byte) []byte
	// Pack and Unpack work on the payload before encryption and after decryption.
	Pack   func(payload []byte) []byte
	Unpack func(packed []byte) ([]byte, error)
	// Encrypt and Decrypt are the cipher with its associated data. Decrypt returns the refusal to report.
	Encrypt func(key, nonce, plaintext, data []byte) []byte
	Decrypt func(key, nonce, sealed, data []byte) ([]byte, error)
	// Data returns the associated data.
	Data func(id []byte) []byte
	// Frame writes the text of a token after its prefix, and Unframe reads it, with a nonce of
	// NonceSize bytes.
	Frame     func(id, nonce, sealed []byte) string
	Unframe   func(text string, nonceSize int) (id, nonce, sealed []byte, ok bool)
	NonceSize int
}

const sealerPrefix = "fe1."

// The lengths of a nonce and a tag of AES-GCM in bytes.
const (
	GCMNonce = 12
	GCMTag   = 16
)

func soundSealer() SealerParts {
	return SealerParts{
		RingParts: SoundRing(),
		Nonce:     func(uint64, []byte, []byte) []byte { return RandomBytes(GCMNonce) },
		Pack:      bytes.Clone,
		Unpack:    func(packed []byte) ([]byte, error) { return packed, nil },
		Encrypt:   func(key, nonce, plaintext, data []byte) []byte { return NewGCM(key).Seal(nil, nonce, plaintext, data) },
		Decrypt:   OpenGCM,
		Data:      func(id []byte) []byte { return append([]byte(sealerPrefix), id...) },
		Frame: func(id, nonce, sealed []byte) string {
			return base64.RawURLEncoding.EncodeToString(slices.Concat(id, nonce, sealed))
		},
		Unframe:   inOnePiece,
		NonceSize: GCMNonce,
	}
}

type sealer struct {
	SealerParts
	ring  *Ring
	count atomic.Uint64 // tokens so far
}

func (p SealerParts) open(c codecs.Config) (codecs.Codec, error) {
	r, err := p.RingParts.Open(c.Secrets)
	if err != nil {
		return nil, err
	}
	return &sealer{SealerParts: p, ring: r}, nil
}

// Seal implements codecs.Codec.
func (s *sealer) Seal(dst, payload []byte) ([]byte, error) {
	return s.SealEdited(dst, s.Nonce(s.count.Add(1)-1, s.First(s.ring).Key, payload), payload, nil)
}

// SeedSize implements lab.Seeded: the seed is the nonce.
func (s *sealer) SeedSize() int { return s.NonceSize }

// SealSeeded implements lab.Seeded.
func (s *sealer) SealSeeded(dst, seed, payload []byte) ([]byte, error) {
	return s.SealEdited(dst, seed, payload, nil)
}

// SealEdited implements lab.Assembler for the key ID and the values on the wire.
func (s *sealer) SealEdited(dst, nonce, payload []byte, edit lab.Edit) ([]byte, error) {
	e := s.First(s.ring)
	id := edit.Apply(lab.StepKeyID, e.ID)
	sealed := s.Encrypt(e.Key, nonce, s.Pack(payload), s.Data(id))
	cut := max(0, len(sealed)-GCMTag)
	nonce = edit.Apply(lab.WireNonce, nonce)
	body := edit.Apply(lab.WireBody, sealed[:cut])
	tag := edit.Apply(lab.WireTag, sealed[cut:])
	return append(dst, sealerPrefix+s.Frame(id, nonce, slices.Concat(body, tag))...), nil
}

func inOnePiece(text string, nonceSize int) (id, nonce, sealed []byte, ok bool) {
	raw, ok := DecodeCanonical(text)
	if !ok || len(raw) < IDSize+nonceSize {
		return nil, nil, nil, false
	}
	return raw[:IDSize], raw[IDSize : IDSize+nonceSize], raw[IDSize+nonceSize:], true
}

// Unseal implements codecs.Codec.
func (s *sealer) Unseal(dst, token []byte) ([]byte, error) {
	text, ok := strings.CutPrefix(string(token), sealerPrefix)
	if !ok {
		return dst, ErrMalformed
	}
	id, nonce, sealed, ok := s.Unframe(text, s.NonceSize)
	if !ok {
		return dst, ErrMalformed
	}
	e := s.Lookup(s.ring, id)
	if e == nil {
		return dst, errUnknownKey
	}
	packed, err := s.Decrypt(e.Key, nonce, sealed, s.Data(id))
	if err != nil {
		return dst, err
	}
	payload, err := s.Unpack(packed)
	if err != nil {
		return dst, err
	}
	return append(dst, payload...), nil
}

// sealedGuarantees are the guarantees that the author of an encrypted codec would claim.
var sealedGuarantees = slices.Concat(
	codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.Canonical, codecs.Rotation, codecs.KeySeparation,
		codecs.FreshNonces, codecs.UniformRefusal, codecs.SteadyTiming, codecs.Total, codecs.ByteExact, codecs.StrongKeys),
	codecs.Disclaims(codecs.KeyCommitting, "the tag is a polynomial"),
	codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated nonce repeats the key stream"),
	codecs.Disclaims(codecs.SenderAuthenticated, "who can unseal can seal"),
)

// NewSealer returns a control on the skeleton of an encrypted codec.
func NewSealer(name, doc string, broken []codecs.Property, attacks []string, mistake func(*SealerParts)) Control {
	parts := soundSealer()
	mistake(&parts)
	return NewControl(name, doc, codecs.Design{Prefix: sealerPrefix, NewCodec: parts.open}, sealedGuarantees, broken, attacks)
}
