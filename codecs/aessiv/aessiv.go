// Package aessiv is the design aes-siv: AES-SIV with CMAC and keys of 512 bits
// (RFC 5297), without a nonce: sealing is deterministic.
//
// Layout, with a payload of m bytes:
//
//	token = "si1." || base64url(key-id[4] || ciphertext[m] || iv[16])
//	associated data = "si1." || key-id, one component
//	S2V key || CTR key = HKDF-SHA256(key, label || " cipher", 64)
//	key, key-id = keyring derivation under the label "sealab/aes-siv/v1"
//
// The synthetic initialization vector authenticates the token. RFC 5297 puts it
// before the ciphertext; here it takes the place of a tag.
//
// Limits: 2^48 tokens per key (RFC 5297, section 6). Payloads are bounded by memory.
//
// Limitations: equal payloads give equal tokens, no key commitment (CMAC can be
// inverted under known keys), no hidden payload length. Use package claims for
// time, user and request. It allocates.
package aessiv

import (
	"bytes"
	"crypto/cipher"
	"errors"

	"github.com/tink-crypto/tink-go/v2/daead/subtle"

	"sealab/codecs"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

const label = "sealab/aes-siv/v1"

var format = layouts.AEAD{
	Format: layouts.Format{Prefix: "si1.", TagSize: 16},
	Label:  label,
	Cipher: open,
}

// New returns a [codecs.Codec] that seals under the first secret and unseals
// under each; an empty ring and a short, weak, repeated or colliding secret are
// errors.
func New(secrets ...[]byte) (*layouts.Codec, error) { return format.New(secrets...) }

// open returns the AEAD under the keys that are derived from key.
func open(key []byte) (cipher.AEAD, error) {
	return newSIV(keyring.Derive(key, label+" cipher", keySize))
}

// Design is the catalog row.
var Design = format.Design(codecs.Design{
	Name: "aes-siv",
	Doc:  "encrypted with AES-SIV, deterministic: equal payloads give equal tokens",
	Spec: "RFC 5297 (AES-SIV-CMAC-512); RFC 5869",
	Hooks: &lab.Hooks{
		Facts: &lab.Facts{
			Log2Tokens:  48,
			ForgeryBits: 128,
			Source:      "RFC 5297, section 6",
			Use:         "aessiv.New(secret)",
		},
		Primitive: "AES-SIV",
		Allocates: "the implementation returns its results in memory of its own",
	},
},
	guarantee.AESTiming, guarantee.NoNonce,
	codecs.Disclaims(codecs.Confidentiality, "equal payloads give equal tokens"),
	guarantee.EqualPayloads,
	codecs.Disclaims(codecs.KeyCommitting, "CMAC can be inverted under known keys: finding two keys for one token takes at most 2^64 work"),
)

const (
	tagSize = 16 // the synthetic initialization vector
	keySize = 64 // S2V key, CTR key
)

var errOpen = errors.New("aessiv: message authentication failed")

// siv is AEAD_AES_SIV_CMAC_512 without a nonce. It writes the synthetic
// initialization vector after the ciphertext.
type siv struct{ *subtle.AESSIV }

func newSIV(key []byte) (cipher.AEAD, error) {
	s, err := subtle.NewAESSIV(bytes.Clone(key)) // it keeps its argument
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	return siv{s}, nil
}

func (siv) NonceSize() int { return 0 }
func (siv) Overhead() int  { return tagSize }

func (s siv) Seal(dst, _, plaintext, data []byte) []byte {
	sealed, err := s.EncryptDeterministically(plaintext, data)
	if err != nil {
		panic("aessiv: " + err.Error()) // the plaintext is longer than memory
	}
	dst = append(dst, sealed[tagSize:]...)
	return append(dst, sealed[:tagSize]...)
}

func (s siv) Open(dst, _, ciphertext, data []byte) ([]byte, error) {
	n := len(ciphertext) - tagSize
	//mutant:equivalent the layout refuses tokens that are too short first
	if n < 0 {
		return nil, errOpen
	}
	sealed := make([]byte, 0, len(ciphertext))
	sealed = append(append(sealed, ciphertext[n:]...), ciphertext[:n]...)
	plaintext, err := s.DecryptDeterministically(sealed, data)
	if err != nil {
		return nil, errOpen
	}
	return append(dst, plaintext...), nil
}
