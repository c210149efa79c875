// Package gcmctx is the design aes-256-gcm-ctx: AES-256-GCM (NIST SP 800-38D) with
// a random nonce, made key-committing by the CTX transform (Chan and Rogaway, "On
// Committing Authenticated Encryption", ESORICS 2022, eprint 2022/1260).
//
// Layout, with a payload of m bytes:
//
//	token = "sc1." || base64url(key-id[4] || nonce[12] || ciphertext[m] || tag[32])
//	tag = SHA-256(key[32] || nonce || associated data[8] || GCM tag[16])
//	associated data = "sc1." || key-id
//	key, key-id = keyring derivation under the label "sealab/aes-256-gcm-ctx/v1"
//
// The tag replaces that of GCM, which the token does not contain. All inputs of
// the hash have fixed lengths. To open a token, the codec decrypts the
// ciphertext and encrypts it again to compute GCM's tag.
//
// Limits: a random 96-bit nonce allows 2^32 tokens per key for a probability of
// a repeated nonce below 2^-32 (SP 800-38D, section 8.3). To find two keys for
// one token is to find a collision of SHA-256: 2^128 work. A payload has at
// most 2^36 - 32 bytes.
//
// Limitations: no nonce misuse resistance, no hidden payload length. Use
// package claims for time, user and request.
package gcmctx

import (
	"crypto/cipher"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

var format = layouts.AEAD{
	Format: layouts.Format{Prefix: "sc1.", NonceSize: 12, TagSize: tagSize},
	Label:  "sealab/aes-256-gcm-ctx/v1",
	Cipher: newCTX,
}

// New returns a [codecs.Codec] that seals under the first secret and unseals
// under each; an empty ring and a short, weak, repeated or colliding secret are
// errors.
func New(secrets ...[]byte) (*layouts.Codec, error) { return format.New(secrets...) }

// Design is the catalog row.
var Design = format.Design(codecs.Design{
	Name: "aes-256-gcm-ctx",
	Doc:  "encrypted with AES-256-GCM, and committed to key and nonce by the CTX transform",
	Spec: "Chan and Rogaway 2022 (CTX); NIST SP 800-38D; FIPS 180-4; RFC 5869",
	Hooks: &lab.Hooks{
		Facts: &lab.Facts{
			Log2Tokens:      32,
			Log2Bytes:       52,
			ForgeryBits:     127,
			ForgeryPerBlock: true, // equal tags of GCM give equal tags of CTX
			Source:          "tokens: NIST SP 800-38D, section 8.3; bytes: birthday bound of CTR on 2^48 blocks",
			Use:             "gcmctx.New(secret)",
		},
		Primitive: "AES-256-GCM-CTX",
	},
},
	guarantee.AESTiming,
	codecs.HoldsBecause(codecs.KeyCommitting, "a token that opens under two keys needs a collision of SHA-256"),
	guarantee.Nonce96, guarantee.RepeatedStream,
)

const tagSize = sha256.Size

var errOpen = errors.New("gcmctx: message authentication failed")

// ctx is CTX over AES-256-GCM under one key.
type ctx struct {
	cipher.AEAD
	key [32]byte
}

func newCTX(key []byte) (cipher.AEAD, error) {
	gcm, err := keyring.AESGCM(key)
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	return &ctx{gcm, [32]byte(key)}, nil
}

func (c *ctx) Overhead() int { return tagSize }

// commit computes the tag from that of GCM. Key, nonce and GCM's tag have fixed
// lengths, so different contexts give different inputs of the hash.
func (c *ctx) commit(nonce, data, tag []byte) [tagSize]byte {
	var room [128]byte
	b := append(room[:0], c.key[:]...)
	b = append(b, nonce...)
	b = append(b, data...)
	b = append(b, tag...)
	return sha256.Sum256(b)
}

func (c *ctx) Seal(dst, nonce, plaintext, data []byte) []byte {
	n := len(dst) + len(plaintext)
	dst = c.AEAD.Seal(slices.Grow(dst, len(plaintext)+tagSize), nonce, plaintext, data)
	tag := c.commit(nonce, data, dst[n:])
	return append(dst[:n], tag[:]...)
}

// Open decrypts before it verifies: GCM's tag is not part of the ciphertext and
// is computed from the plaintext. Sealing a ciphertext under its nonce decrypts
// it, because GCM adds the same key stream in both directions. Open uses the
// ciphertext as scratch memory and restores it. It must not overlap dst.
func (c *ctx) Open(dst, nonce, ciphertext, data []byte) ([]byte, error) {
	n := len(ciphertext) - tagSize
	//mutant:equivalent the layout refuses tokens that are too short first
	if n < 0 {
		return nil, errOpen
	}
	tag := [tagSize]byte(ciphertext[n:])
	body := c.AEAD.Seal(ciphertext[:0], nonce, ciphertext[:n], nil)[:n]
	out := append(dst, body...)
	body = c.AEAD.Seal(body[:0], nonce, body, data)
	want := c.commit(nonce, data, body[n:])
	copy(ciphertext[n:], tag[:])
	if subtle.ConstantTimeCompare(want[:], tag[:]) != 1 {
		clear(out[len(dst):])
		return nil, errOpen
	}
	return out, nil
}
