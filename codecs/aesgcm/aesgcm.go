// Package aesgcm is the design aes-256-gcm: AES-256-GCM (NIST SP 800-38D) with
// a random nonce.
//
// Layout, with a payload of m bytes:
//
//	token = "sa1." || base64url(key-id[4] || nonce[12] || ciphertext[m] || tag[16])
//	associated data = "sa1." || key-id
//	key, key-id = keyring derivation under the label "sealab/aes-256-gcm/v1"
//
// Limits: with random 96-bit nonces, 2^32 tokens per key keep the probability
// of a repeated nonce below 2^-32 (SP 800-38D, section 8.3). Rotate the ring
// before that. A payload has at most 2^36 - 32 bytes.
//
// Limitations: no nonce misuse resistance (a repeated nonce reveals the XOR of
// two payloads and lets tokens be forged), no key commitment (a ciphertext that
// opens under two keys can be made), no hidden payload length. Use package
// claims for time, user and request.
package aesgcm

import (
	"sealab/codecs"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

var format = layouts.AEAD{
	Format: layouts.Format{Prefix: "sa1.", NonceSize: 12, TagSize: 16},
	Label:  "sealab/aes-256-gcm/v1",
	Cipher: keyring.AESGCM,
}

// New returns a [codecs.Codec] that seals under the first secret and unseals
// under each; an empty ring and a short, weak, repeated or colliding secret are
// errors.
func New(secrets ...[]byte) (*layouts.Codec, error) { return format.New(secrets...) }

// Ephemeral returns a codec under a fresh random secret. No other process can
// open its tokens.
func Ephemeral() *layouts.Codec { return keyring.Ephemeral(New) }

// Design is the catalog row.
var Design = format.Design(codecs.Design{
	Name: "aes-256-gcm",
	Doc:  "encrypted with AES-256-GCM under a random 96-bit nonce",
	Spec: "NIST SP 800-38D; RFC 5869",
	Hooks: &lab.Hooks{
		Facts: &lab.Facts{
			Log2Tokens:      32,
			Log2Bytes:       52,
			ForgeryBits:     127,
			ForgeryPerBlock: true,
			Source:          "tokens: NIST SP 800-38D, section 8.3; bytes: birthday bound of CTR on 2^48 blocks",
			Approved:        "SP 800-38D, SP 800-56C",
			Use:             "aesgcm.New(secret)",
			Languages:       []string{"java", "ruby", "rust"},
		},
		Primitive: "AES-256-GCM",
	},
},
	guarantee.AESTiming, guarantee.Nonce96, guarantee.GCMTwoKeys, guarantee.RepeatedStream,
)
