// Package ascon is the design ascon-aead128: Ascon-AEAD128 (NIST SP 800-232) with a
// random nonce.
//
// Layout, with a payload of m bytes:
//
//	token = "sn1." || base64url(key-id[4] || nonce[16] || ciphertext[m] || tag[16])
//	associated data = "sn1." || key-id
//	cipher key = first 16 bytes of key
//	key, key-id = keyring derivation under the label "sealab/ascon-aead128/v1"
//
// This package implements the cipher itself, because no maintained Go library
// has the final standard. The code has no table and no branch that depends on a
// secret.
//
// Limits: 2^48 tokens per key for a probability of a repeated nonce below 2^-32
// (birthday bound on 128 bits), and 2^54 bytes per key in all (SP 800-232, section
// 4.3).
//
// Limitations: at most 128-bit security, no nonce misuse resistance, no key
// commitment (a tag of 128 bits allows 64-bit commitment at most), no hidden
// payload length. Use package claims for time, user and request.
package ascon

import (
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

var format = layouts.AEAD{
	Format: layouts.Format{Prefix: "sn1.", NonceSize: nonceSize, TagSize: tagSize},
	Label:  "sealab/ascon-aead128/v1",
	Cipher: newAscon,
}

// New returns a [codecs.Codec] that seals under the first secret and unseals
// under each; an empty ring and a short, weak, repeated or colliding secret are
// errors.
func New(secrets ...[]byte) (*layouts.Codec, error) { return format.New(secrets...) }

// Design is the catalog row.
var Design = format.Design(codecs.Design{
	Name: "ascon-aead128",
	Doc:  "encrypted with Ascon-AEAD128 under a random 128-bit nonce",
	Spec: "NIST SP 800-232 (Ascon-AEAD128); RFC 5869",
	Hooks: &lab.Hooks{
		Facts: &lab.Facts{
			Log2Tokens:  48,
			Log2Bytes:   54,
			ForgeryBits: 128,
			Source:      "tokens: birthday bound on the nonce; bytes: SP 800-232, section 4.3",
			Approved:    "SP 800-232, SP 800-56C",
			Use:         "ascon.New(secret)",
		},
		Primitive: "Ascon-AEAD128",
	},
},
	codecs.Holds(codecs.SteadyTiming),
	codecs.HoldsBecause(codecs.FreshNonces, "random 128-bit nonces, for up to 2^48 tokens per key"),
	codecs.Disclaims(codecs.KeyCommitting, "the tag has 128 bits: finding two keys for one token takes at most 2^64 work"),
	codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated nonce repeats the key stream up to the first block that differs"),
)

const (
	keySize   = 16
	nonceSize = 16
	tagSize   = 16
	rate      = 16 // bytes per permutation
)

var errOpen = errors.New("ascon: message authentication failed")

// ascon is Ascon-AEAD128 under one key.
type ascon struct{ k0, k1 uint64 }

// newAscon uses the first 128 bits of a key.
func newAscon(key []byte) (cipher.AEAD, error) {
	if len(key) < keySize {
		return nil, errors.New("ascon: the key is too short")
	}
	return &ascon{binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[8:])}, nil
}

func (a *ascon) NonceSize() int { return nonceSize }
func (a *ascon) Overhead() int  { return tagSize }

// state is the 320-bit state of Ascon, in little-endian words (SP 800-232,
// section 3.1).
type state [5]uint64

// constants are the round constants of 16 rounds (SP 800-232, table 5). A
// permutation of n rounds uses the last n.
var constants = [16]uint64{0x3c, 0x2d, 0x1e, 0x0f, 0xf0, 0xe1, 0xd2, 0xc3, 0xb4, 0xa5, 0x96, 0x87, 0x78, 0x69, 0x5a, 0x4b}

// permute applies Ascon-p with the given number of rounds (SP 800-232, section
// 3.2): constants, substitution, linear diffusion. Its time depends only on the
// number of rounds.
func (s *state) permute(rounds int) {
	x0, x1, x2, x3, x4 := s[0], s[1], s[2], s[3], s[4]
	for _, c := range constants[len(constants)-rounds:] {
		x2 ^= c
		x0 ^= x4
		x4 ^= x3
		x2 ^= x1
		t0 := x0 ^ (^x1 & x2)
		t1 := x1 ^ (^x2 & x3)
		t2 := x2 ^ (^x3 & x4)
		t3 := x3 ^ (^x4 & x0)
		t4 := x4 ^ (^x0 & x1)
		t1 ^= t0
		t0 ^= t4
		t3 ^= t2
		t2 = ^t2
		x0 = t0 ^ bits.RotateLeft64(t0, -19) ^ bits.RotateLeft64(t0, -28)
		x1 = t1 ^ bits.RotateLeft64(t1, -61) ^ bits.RotateLeft64(t1, -39)
		x2 = t2 ^ bits.RotateLeft64(t2, -1) ^ bits.RotateLeft64(t2, -6)
		x3 = t3 ^ bits.RotateLeft64(t3, -10) ^ bits.RotateLeft64(t3, -17)
		x4 = t4 ^ bits.RotateLeft64(t4, -7) ^ bits.RotateLeft64(t4, -41)
	}
	s[0], s[1], s[2], s[3], s[4] = x0, x1, x2, x3, x4
}

// start returns the state after initialization and associated data (SP 800-232,
// section 4.1, steps 1 and 2).
func (a *ascon) start(nonce, data []byte) state {
	const iv = 0x00001000808c0001
	s := state{iv, a.k0, a.k1, binary.LittleEndian.Uint64(nonce), binary.LittleEndian.Uint64(nonce[8:])}
	s.permute(12)
	s[3] ^= a.k0
	s[4] ^= a.k1
	if len(data) > 0 {
		for ; len(data) >= rate; data = data[rate:] {
			s[0] ^= binary.LittleEndian.Uint64(data)
			s[1] ^= binary.LittleEndian.Uint64(data[8:])
			s.permute(8)
		}
		lo, hi := padded(data)
		s[0] ^= lo
		s[1] ^= hi
		s.permute(8)
	}
	s[4] ^= 1 << 63 // domain separation
	return s
}

// finish returns the tag (SP 800-232, section 4.1, step 4).
func (a *ascon) finish(s *state) (tag [tagSize]byte) {
	s[2] ^= a.k0
	s[3] ^= a.k1
	s.permute(12)
	binary.LittleEndian.PutUint64(tag[:], s[3]^a.k0)
	binary.LittleEndian.PutUint64(tag[8:], s[4]^a.k1)
	return tag
}

// padded returns a partial block followed by the bit 1 and zeros.
func padded(b []byte) (lo, hi uint64) {
	var block [rate]byte
	block[copy(block[:], b)] = 1
	return binary.LittleEndian.Uint64(block[:]), binary.LittleEndian.Uint64(block[8:])
}

func (a *ascon) Seal(dst, nonce, plaintext, data []byte) []byte {
	s := a.start(nonce, data)
	dst = slices.Grow(dst, len(plaintext)+tagSize)
	for ; len(plaintext) >= rate; plaintext = plaintext[rate:] {
		s[0] ^= binary.LittleEndian.Uint64(plaintext)
		s[1] ^= binary.LittleEndian.Uint64(plaintext[8:])
		dst = binary.LittleEndian.AppendUint64(dst, s[0])
		dst = binary.LittleEndian.AppendUint64(dst, s[1])
		s.permute(8)
	}
	lo, hi := padded(plaintext)
	s[0] ^= lo
	s[1] ^= hi
	var block [rate]byte
	binary.LittleEndian.PutUint64(block[:], s[0])
	binary.LittleEndian.PutUint64(block[8:], s[1])
	dst = append(dst, block[:len(plaintext)]...)
	tag := a.finish(&s)
	return append(dst, tag[:]...)
}

func (a *ascon) Open(dst, nonce, ciphertext, data []byte) ([]byte, error) {
	n := len(ciphertext) - tagSize
	//mutant:equivalent the layout refuses tokens that are too short first
	if n < 0 {
		return nil, errOpen
	}
	body, given := ciphertext[:n], ciphertext[n:]
	s := a.start(nonce, data)
	out := slices.Grow(dst, n)
	for ; len(body) >= rate; body = body[rate:] {
		lo, hi := binary.LittleEndian.Uint64(body), binary.LittleEndian.Uint64(body[8:])
		out = binary.LittleEndian.AppendUint64(out, s[0]^lo)
		out = binary.LittleEndian.AppendUint64(out, s[1]^hi)
		s[0], s[1] = lo, hi
		s.permute(8)
	}
	var block [rate]byte
	binary.LittleEndian.PutUint64(block[:], s[0])
	binary.LittleEndian.PutUint64(block[8:], s[1])
	subtle.XORBytes(block[:], block[:], body)
	out = append(out, block[:len(body)]...)
	lo, hi := padded(block[:len(body)])
	s[0] ^= lo
	s[1] ^= hi
	tag := a.finish(&s)
	if subtle.ConstantTimeCompare(tag[:], given) != 1 {
		clear(out[len(dst):])
		return nil, errOpen
	}
	return out, nil
}
