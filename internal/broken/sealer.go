package broken

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"slices"
	"strings"
	"sync/atomic"

	"sealab/codecs"
	"sealab/internal/lab"
)

// sealerParts are the parts of an encrypted codec,
//
//	token = "fe1." || base64url(key-id[4] || nonce[12] || ciphertext || tag[16])
//	associated data = "fe1." || key-id
type sealerParts struct {
	ringParts
	// nonce returns the nonce of the n-th token (from 0) of this codec.
	nonce func(n uint64, key, payload []byte) []byte
	// pack and unpack work on the payload before encryption and after decryption.
	pack   func(payload []byte) []byte
	unpack func(packed []byte) ([]byte, error)
	// seal and open are the cipher with its associated data. open returns the refusal to report.
	seal func(key, nonce, plaintext, data []byte) []byte
	open func(key, nonce, sealed, data []byte) ([]byte, error)
	data func(id []byte) []byte
	// frame writes the text of a token after its prefix, and unframe reads it,
	// with a nonce of nonceSize bytes.
	frame     func(id, nonce, sealed []byte) string
	unframe   func(text string, nonceSize int) (id, nonce, sealed []byte, ok bool)
	nonceSize int
}

const (
	sealerPrefix = "fe1."
	gcmNonce     = 12
	gcmTag       = 16
)

func soundSealer() sealerParts {
	return sealerParts{
		ringParts: soundRing(),
		nonce:     func(uint64, []byte, []byte) []byte { return randomBytes(gcmNonce) },
		pack:      bytes.Clone,
		unpack:    func(packed []byte) ([]byte, error) { return packed, nil },
		seal:      func(key, nonce, plaintext, data []byte) []byte { return newGCM(key).Seal(nil, nonce, plaintext, data) },
		open:      openGCM,
		data:      func(id []byte) []byte { return append([]byte(sealerPrefix), id...) },
		frame: func(id, nonce, sealed []byte) string {
			return base64.RawURLEncoding.EncodeToString(slices.Concat(id, nonce, sealed))
		},
		unframe:   inOnePiece,
		nonceSize: gcmNonce,
	}
}

func openGCM(key, nonce, sealed, data []byte) ([]byte, error) {
	plaintext, err := newGCM(key).Open(nil, nonce, sealed, data)
	if err != nil {
		return nil, errUnauthentic
	}
	return plaintext, nil
}

func newGCM(key []byte) cipher.AEAD {
	a, err := cipher.NewGCM(aesBlock(key))
	if err != nil {
		panic("broken: " + err.Error()) // GCM takes the block size of AES
	}
	return a
}

func aesBlock(key []byte) cipher.Block {
	b, err := aes.NewCipher(key)
	if err != nil {
		panic("broken: " + err.Error()) // derived keys have 32 bytes
	}
	return b
}

type sealer struct {
	sealerParts
	ring  *ring
	count atomic.Uint64 // tokens so far
}

func (p sealerParts) newCodec(c codecs.Config) (codecs.Codec, error) {
	r, err := p.ringParts.open(c.Secrets)
	if err != nil {
		return nil, err
	}
	return &sealer{sealerParts: p, ring: r}, nil
}

// Seal implements codecs.Codec.
func (s *sealer) Seal(dst, payload []byte) ([]byte, error) {
	return s.SealEdited(dst, s.nonce(s.count.Add(1)-1, s.first(s.ring).key, payload), payload, func(_ lab.Step, value []byte) []byte { return value })
}

// SeedSize implements lab.Seeded: the seed is the nonce.
func (s *sealer) SeedSize() int { return s.nonceSize }

// SealSeeded implements lab.Seeded.
func (s *sealer) SealSeeded(dst, seed, payload []byte) ([]byte, error) {
	return s.SealEdited(dst, seed, payload, func(_ lab.Step, value []byte) []byte { return value })
}

// SealEdited implements lab.Assembler for the key ID and the values on the wire.
func (s *sealer) SealEdited(dst, nonce, payload []byte, edit lab.Edit) ([]byte, error) {
	e := s.first(s.ring)
	id := edit(lab.StepKeyID, bytes.Clone(e.id))
	sealed := s.seal(e.key, nonce, s.pack(payload), s.data(id))
	cut := max(0, len(sealed)-gcmTag)
	nonce = edit(lab.WireNonce, bytes.Clone(nonce))
	body := edit(lab.WireBody, bytes.Clone(sealed[:cut]))
	tag := edit(lab.WireTag, bytes.Clone(sealed[cut:]))
	return append(dst, sealerPrefix+s.frame(id, nonce, slices.Concat(body, tag))...), nil
}

func inOnePiece(text string, nonceSize int) (id, nonce, sealed []byte, ok bool) {
	raw, ok := decodeCanonical(text)
	if !ok || len(raw) < idSize+nonceSize {
		return nil, nil, nil, false
	}
	return raw[:idSize], raw[idSize : idSize+nonceSize], raw[idSize+nonceSize:], true
}

// Unseal implements codecs.Codec.
func (s *sealer) Unseal(dst, token []byte) ([]byte, error) {
	text, ok := strings.CutPrefix(string(token), sealerPrefix)
	if !ok {
		return dst, errMalformed
	}
	id, nonce, sealed, ok := s.unframe(text, s.nonceSize)
	if !ok {
		return dst, errMalformed
	}
	e := s.lookup(s.ring, id)
	if e == nil {
		return dst, errUnknownKey
	}
	packed, err := s.open(e.key, nonce, sealed, s.data(id))
	if err != nil {
		return dst, err
	}
	payload, err := s.unpack(packed)
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

// aSealer returns a control on the skeleton of an encrypted codec.
func aSealer(name, doc string, broken []codecs.Property, attacks []string, mistake func(*sealerParts)) Control {
	parts := soundSealer()
	mistake(&parts)
	return newControl(name, doc, codecs.Design{Prefix: sealerPrefix, NewCodec: parts.newCodec}, sealedGuarantees, broken, attacks)
}
