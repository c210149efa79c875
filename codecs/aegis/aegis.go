// Package aegis is the design aegis-256: AEGIS-256 (RFC 10032) with a random nonce
// and a 128-bit tag.
//
// Layout, with a payload of m bytes:
//
//	token = "se1." || base64url(key-id[4] || nonce[32] || ciphertext[m] || tag[16])
//	associated data = "se1." || key-id
//	key, key-id = keyring derivation under the label "sealab/aegis-256/v1"
//
// Limits: 2^112 tokens per key for a probability of a repeated nonce below 2^-32
// (birthday bound on 256 bits; the RFC sees no practical limit). A payload has at
// most 2^61 bytes.
//
// Limitations: no nonce misuse resistance, no key commitment, no hidden payload
// length. Use package claims for time, user and request. The RFC ("Committing
// Security") expects an attacker to find two keys for one token after 2^64
// attempts with a tag of 128 bits, and after 2^128 with one of 256. The
// implementation has tags of 128 bits only.
//
// It uses the AES instructions of amd64 and arm64; elsewhere it computes AES
// rounds with tables. The implementation, github.com/ericlagergren/aegis, has
// no release, so its commit of March 2025 is used. The tests run the vectors of
// Wycheproof.
package aegis

import (
	"github.com/ericlagergren/aegis"

	"sealab/codecs"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

var format = layouts.AEAD{
	Format: layouts.Format{Prefix: "se1.", NonceSize: 32, TagSize: 16},
	Label:  "sealab/aegis-256/v1",
	Cipher: aegis.New,
}

// New returns a [codecs.Codec] that seals under the first secret and unseals
// under each; an empty ring and a short, weak, repeated or colliding secret are
// errors.
func New(secrets ...[]byte) (*layouts.Codec, error) { return format.New(secrets...) }

// Design is the catalog row.
var Design = format.Design(codecs.Design{
	Name: "aegis-256",
	Doc:  "encrypted with AEGIS-256 under a random 256-bit nonce",
	Spec: "RFC 10032 (AEGIS-256, 128-bit tag); RFC 5869",
	Hooks: &lab.Hooks{
		Facts: &lab.Facts{
			Log2Tokens:  112,
			ForgeryBits: 128,
			Source:      "birthday bound on the nonce",
			Use:         "aegis.New(secret)",
		},
		Primitive: "AEGIS-256",
	},
},
	guarantee.AESTiming,
	codecs.HoldsBecause(codecs.FreshNonces, "random 256-bit nonces, for up to 2^112 tokens per key"),
	codecs.Disclaims(codecs.KeyCommitting, "the tag has 128 bits: finding two keys for one token takes about 2^64 attempts"),
	codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated nonce repeats the key stream of the first block"),
)
