// Package chachasiv is the design chacha20-poly1305-siv: ChaCha20-Poly1305-SIV
// (c2sp.org/chacha20-poly1305-siv, version v0.0.1) with a random nonce.
//
// Layout, with a payload of m bytes:
//
//	token = "sv1." || base64url(key-id[4] || nonce[16] || ciphertext[m] || tag[32])
//	associated data = "sv1." || key-id
//	key, key-id = keyring derivation under the label "sealab/chacha20-poly1305-siv/v1"
//
// A repeated nonce shows only whether two payloads are equal.
//
// Limits: 2^48 tokens per key for a probability of a repeated nonce of 2^-32,
// and a payload of at most 2^38 bytes (specification, "Usage Guidelines" and
// "Conventions and Definitions"). To find two keys for one token is to find a
// collision of ChaCha20 blocks truncated to 256 bits: 2^128 work if its
// permutation is ideal.
//
// Limitations: no hidden payload length. Use package claims for time, user and
// request. The specification is young, and its authors leave a formal analysis
// as future work.
package chachasiv

import (
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"slices"

	"golang.org/x/crypto/chacha20"
	"golang.org/x/crypto/poly1305" //lint:ignore SA1019 the package has no successor for a bare Poly1305

	"sealab/codecs"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

var format = layouts.AEAD{
	Format: layouts.Format{Prefix: "sv1.", NonceSize: nonceSize, TagSize: tagSize},
	Label:  "sealab/chacha20-poly1305-siv/v1",
	Cipher: newSIV,
}

// New returns a [codecs.Codec] that seals under the first secret and unseals
// under each; an empty ring and a short, weak, repeated or colliding secret are
// errors.
func New(secrets ...[]byte) (*layouts.Codec, error) { return format.New(secrets...) }

// Design is the catalog row.
var Design = format.Design(codecs.Design{
	Name: "chacha20-poly1305-siv",
	Doc:  "encrypted with ChaCha20-Poly1305-SIV, which survives a repeated nonce and commits to its key",
	Spec: "C2SP chacha20-poly1305-siv v0.0.1; RFC 8439; RFC 5869",
	Hooks: &lab.Hooks{
		AllocatesInGo: "the implementation of ChaCha20 in pure Go allocates its state",
		Facts: &lab.Facts{
			Log2Tokens:      48,
			ForgeryBits:     103,
			ForgeryPerBlock: true,
			Source:          "C2SP chacha20-poly1305-siv, Usage Guidelines",
			Use:             "chachasiv.New(secret)",
		},
		Primitive: "ChaCha20-Poly1305-SIV",
	},
},
	codecs.Holds(codecs.SteadyTiming),
	codecs.HoldsBecause(codecs.KeyCommitting, "a token that opens under two keys needs a collision of ChaCha20 blocks cut to 256 bits (specification, Security Guarantees)"),
	codecs.HoldsBecause(codecs.FreshNonces, "random 128-bit nonces, for up to 2^48 tokens per key"),
	codecs.HoldsBecause(codecs.NonceMisuseResistant, "key stream and tag depend on nonce, associated data and payload"),
)

const (
	nonceSize = 16
	tagSize   = 32
	keySize   = 32
)

var errOpen = errors.New("chachasiv: message authentication failed")

// siv is ChaCha20-Poly1305-SIV under one key.
type siv struct{ key [keySize]byte }

func newSIV(key []byte) (cipher.AEAD, error) {
	if len(key) != keySize {
		return nil, errors.New("chachasiv: the key has a wrong length")
	}
	return &siv{[keySize]byte(key)}, nil
}

func (s *siv) NonceSize() int { return nonceSize }
func (s *siv) Overhead() int  { return tagSize }

// A block is one output of ChaCha20.
type block [64]byte

// fill sets b to the ChaCha20 block for a key and an input of 16 bytes: the
// counter and the nonce.
func (b *block) fill(key, input []byte) {
	c, err := chacha20.NewUnauthenticatedCipher(key, input[4:16])
	if err != nil {
		panic("chachasiv: " + err.Error()) // both lengths are fixed
	}
	c.SetCounter(binary.LittleEndian.Uint32(input))
	*b = block{}
	c.XORKeyStream(b[:], b[:])
}

var zeros [16]byte

// tag writes the tag of a plaintext to out. keys is the block of the key and
// the nonce.
func tag(out *[tagSize]byte, keys *block, data, plaintext []byte) {
	mac := poly1305.New((*[32]byte)(keys[:32]))
	var lengths [16]byte
	binary.LittleEndian.PutUint64(lengths[:8], uint64(len(data)))
	binary.LittleEndian.PutUint64(lengths[8:], uint64(len(plaintext)))
	for _, part := range [][]byte{data, plaintext} {
		mac.Write(part)
		mac.Write(zeros[:-len(part)&15])
	}
	mac.Write(lengths[:])
	var sum [16]byte
	mac.Sum(sum[:0])
	var b block
	b.fill(keys[32:], sum[:])
	copy(out[:], b[:])
}

// crypt encrypts or decrypts src to dst under a tag.
func crypt(dst, src []byte, keys *block, tag *[tagSize]byte) {
	var b block
	b.fill(keys[32:], tag[:16])
	c, err := chacha20.NewUnauthenticatedCipher(b[32:], tag[16:28])
	if err != nil {
		panic("chachasiv: " + err.Error()) // both lengths are fixed
	}
	c.XORKeyStream(dst, src)
}

func (s *siv) Seal(dst, nonce, plaintext, data []byte) []byte {
	var keys block
	keys.fill(s.key[:], nonce)
	var t [tagSize]byte
	tag(&t, &keys, data, plaintext)
	start, n := len(dst), len(plaintext)
	dst = slices.Grow(dst, n+tagSize)[:start+n]
	crypt(dst[start:], plaintext, &keys, &t)
	return append(dst, t[:]...)
}

func (s *siv) Open(dst, nonce, ciphertext, data []byte) ([]byte, error) {
	n := len(ciphertext) - tagSize
	//mutant:equivalent the layout refuses tokens that are too short first
	if n < 0 {
		return nil, errOpen
	}
	var keys block
	keys.fill(s.key[:], nonce)
	given := [tagSize]byte(ciphertext[n:])
	start := len(dst)
	dst = slices.Grow(dst, n)[:start+n]
	crypt(dst[start:], ciphertext[:n], &keys, &given)
	var want [tagSize]byte
	tag(&want, &keys, data, dst[start:])
	if subtle.ConstantTimeCompare(want[:], given[:]) != 1 {
		clear(dst[start:])
		return nil, errOpen
	}
	return dst, nil
}
