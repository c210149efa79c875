// Package gcmsiv is the design aes-256-gcm-siv: AEAD_AES_256_GCM_SIV (RFC 8452)
// with a random nonce.
//
// Layout, with a payload of m bytes:
//
//	token = "sg1." || base64url(key-id[4] || nonce[12] || ciphertext[m] || tag[16])
//	associated data = "sg1." || key-id
//	key, key-id = keyring derivation under the label "sealab/aes-256-gcm-siv/v1"
//
// A repeated nonce shows only whether two payloads are equal.
//
// Limits: a random 96-bit nonce allows 2^32 tokens per key for a probability of
// a repeated nonce below 2^-32 (SP 800-38D, section 8.3, which applies to
// nonces of this length). RFC 8452, section 9, allows 2^48 tokens with payloads
// of 32 MiB, because a repeated nonce shows only equality. A payload has at
// most 2^36 bytes (section 6).
//
// Limitations: no key commitment (POLYVAL is a polynomial), no hidden payload
// length. Use package claims for time, user and request. The implementation has
// had no release since 2022. It uses the AES instructions of amd64 and arm64;
// elsewhere AES is computed with tables.
package gcmsiv

import (
	"github.com/ericlagergren/siv"

	"sealab/codecs"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

var format = layouts.AEAD{
	Format: layouts.Format{Prefix: "sg1.", NonceSize: 12, TagSize: 16},
	Label:  "sealab/aes-256-gcm-siv/v1",
	Cipher: siv.NewGCM,
}

// New returns a [codecs.Codec] that seals under the first secret and unseals
// under each; an empty ring and a short, weak, repeated or colliding secret are
// errors.
func New(secrets ...[]byte) (*layouts.Codec, error) { return format.New(secrets...) }

// Design is the catalog row.
var Design = format.Design(codecs.Design{
	Name: "aes-256-gcm-siv",
	Doc:  "encrypted with AES-256-GCM-SIV, which survives a repeated nonce",
	Spec: "RFC 8452; RFC 5869",
	Hooks: &lab.Hooks{
		AllocatesInGo: "the implementation in pure Go allocates its POLYVAL",
		Facts: &lab.Facts{
			Log2Tokens:      32,
			ForgeryBits:     127,
			ForgeryPerBlock: true,
			Source:          "NIST SP 800-38D, section 8.3, for a repeated nonce",
			Use:             "gcmsiv.New(secret)",
		},
		Primitive: "AES-256-GCM-SIV",
		SIVKey:    func(secret []byte) []byte { return keyring.Derive(secret, format.Label+" key", keyring.KeySize) },
	},
},
	guarantee.AESTiming, guarantee.Nonce96,
	codecs.HoldsBecause(codecs.NonceMisuseResistant, "key stream and tag depend on nonce, associated data and payload"),
	codecs.Disclaims(codecs.KeyCommitting, "POLYVAL is a polynomial: one ciphertext can be made to open under two known keys"),
)
