// Package dndk is the design dndk-gcm: Double Nonce Derive Key AES-GCM
// (draft-gueron-cfrg-dndkgcm-03) with a random nonce of 24 bytes and key commitment
// (KC_Choice = 1).
//
// Layout, with a payload of m bytes:
//
//	token = "sk1." || base64url(key-id[4] || nonce[24] || ciphertext[m] || tag[16] || commitment[32])
//	associated data = "sk1." || key-id
//	key, key-id = keyring derivation under the label "sealab/dndk-gcm/v1"
//
// The first 15 bytes of the nonce select the key of AES-256-GCM and the
// commitment. The other 9, padded with zeros, are the nonce of AES-256-GCM.
//
// Limits: 2^80 tokens per key for a probability of a repeated nonce below 2^-32
// (birthday bound on 192 bits), and 2^64 bytes per key in all (draft,
// abstract). A payload has at most 2^36 - 32 bytes. To find two keys for one
// token is to find a collision of the commitment: 2^128 work if AES-256 is an
// ideal cipher.
//
// Limitations: no nonce misuse resistance, no hidden payload length. Use
// package claims for time, user and request. Each token allocates the schedule
// of its derived key. The specification is an individual draft.
package dndk

import (
	"crypto/aes"
	"crypto/cipher"
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
	Format: layouts.Format{Prefix: "sk1.", NonceSize: nonceSize, TagSize: tagSize},
	Label:  "sealab/dndk-gcm/v1",
	Cipher: newDNDK,
}

// New returns a [codecs.Codec] that seals under the first secret and unseals
// under each; an empty ring and a short, weak, repeated or colliding secret are
// errors.
func New(secrets ...[]byte) (*layouts.Codec, error) { return format.New(secrets...) }

// Design is the catalog row.
var Design = format.Design(codecs.Design{
	Name: "dndk-gcm",
	Doc:  "encrypted with DNDK-GCM under a random 192-bit nonce, with key commitment",
	Spec: "draft-gueron-cfrg-dndkgcm-03 (KC_Choice = 1); NIST SP 800-38D; RFC 5869",
	Hooks: &lab.Hooks{
		Facts: &lab.Facts{
			Log2Tokens:      80,
			Log2Bytes:       64,
			ForgeryBits:     127,
			ForgeryPerBlock: true,
			Source:          "tokens: birthday bound on the nonce; bytes: draft-gueron-cfrg-dndkgcm, abstract",
			Use:             "dndk.New(secret)",
		},
		Primitive: "DNDK-GCM",
		Allocates: "each nonce has a key of its own, whose AES-GCM the standard library allocates",
	},
},
	guarantee.AESTiming,
	codecs.HoldsBecause(codecs.KeyCommitting, "a token that opens under two keys needs a collision of the 256-bit commitment, if AES-256 is an ideal cipher"),
	guarantee.Nonce192, guarantee.RepeatedStream,
)

const (
	nonceSize  = 24
	headSize   = 15 // bytes of the nonce that choose the key
	gcmTagSize = 16
	tagSize    = gcmTagSize + 2*aes.BlockSize // GCM's tag, key commitment
	// config is the last byte of the first derivation block. It selects key
	// commitment and a nonce of 24 bytes.
	config = 128 + 8*(nonceSize-12)
)

var errOpen = errors.New("dndk: message authentication failed")

// dndk is DNDK-GCM with key commitment under one root key.
type dndk struct{ block cipher.Block }

func newDNDK(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	return &dndk{block}, nil
}

// derive returns the key and the key commitment for a nonce, 32 bytes each, and
// the nonce for AES-GCM: the rest of the nonce, padded with zeros.
func (d *dndk) derive(nonce []byte) (keys [4 * aes.BlockSize]byte, iv [12]byte) {
	var x0, x [aes.BlockSize]byte
	block := func(i int, out []byte) {
		copy(x[:], nonce[:headSize])
		x[headSize] = byte(config + i)
		d.block.Encrypt(out, x[:])
	}
	block(0, x0[:])
	for i := range 4 {
		out := keys[i*aes.BlockSize:][:aes.BlockSize]
		block(i+1, out)
		subtle.XORBytes(out, out, x0[:])
	}
	copy(iv[:], nonce[headSize:nonceSize])
	return keys, iv
}

func (d *dndk) NonceSize() int { return nonceSize }
func (d *dndk) Overhead() int  { return tagSize }

func (d *dndk) Seal(dst, nonce, plaintext, data []byte) []byte {
	keys, iv := d.derive(nonce)
	a, err := keyring.AESGCM(keys[:32])
	if err != nil {
		panic("dndk: " + err.Error()) // a derived key has the length of a key
	}
	dst = a.Seal(slices.Grow(dst, len(plaintext)+tagSize), iv[:], plaintext, data)
	return append(dst, keys[32:]...)
}

func (d *dndk) Open(dst, nonce, ciphertext, data []byte) ([]byte, error) {
	n := len(ciphertext) - (tagSize - gcmTagSize)
	//mutant:equivalent the layout refuses tokens that are too short first
	if n < gcmTagSize {
		return nil, errOpen
	}
	keys, iv := d.derive(nonce)
	a, err := keyring.AESGCM(keys[:32])
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	// A wrong commitment is reported only after the tag is verified, which
	// needs the key.
	committed := subtle.ConstantTimeCompare(keys[32:], ciphertext[n:]) == 1
	out, err := a.Open(dst, iv[:], ciphertext[:n], data)
	if err != nil {
		return nil, err
	}
	if !committed {
		clear(out[len(dst):])
		return nil, errOpen
	}
	return out, nil
}
