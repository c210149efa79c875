// Package xchacha is the design xchacha20-poly1305: XChaCha20-Poly1305
// (draft-irtf-cfrg-xchacha-03, on RFC 8439) with a random nonce.
//
// Layout, with a payload of m bytes:
//
//	token = "sx1." || base64url(key-id[4] || nonce[24] || ciphertext[m] || tag[16])
//	associated data = "sx1." || key-id
//	key, key-id = keyring derivation under the label "sealab/xchacha20-poly1305/v1"
//
// Limits: random 192-bit nonces do not repeat in practice (2^80 tokens per key
// for a probability of 2^-33). A payload has at most 2^38 - 64 bytes.
//
// Limitations: no nonce misuse resistance, no key commitment (Poly1305 is a
// polynomial, as GCM's tag is), no hidden payload length. Use package claims
// for time, user and request.
package xchacha

import (
	"golang.org/x/crypto/chacha20poly1305"

	"sealab/codecs"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

var format = layouts.AEAD{
	Format: layouts.Format{Prefix: "sx1.", NonceSize: chacha20poly1305.NonceSizeX, TagSize: 16},
	Label:  "sealab/xchacha20-poly1305/v1",
	Cipher: chacha20poly1305.NewX,
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
	Name: "xchacha20-poly1305",
	Doc:  "encrypted with XChaCha20-Poly1305 under a random 192-bit nonce",
	Spec: "draft-irtf-cfrg-xchacha-03; RFC 8439; RFC 5869",
	Hooks: &lab.Hooks{
		AllocatesInGo: "the implementation of XChaCha20 in pure Go allocates its state",
		Facts: &lab.Facts{
			Log2Tokens:      80,
			ForgeryBits:     103,
			ForgeryPerBlock: true,
			Source:          "birthday bound on the nonce",
			Use:             "xchacha.New(secret)",
			Languages:       []string{"rust"},
		},
		Primitive: "XChaCha20-Poly1305",
	},
},
	codecs.Holds(codecs.SteadyTiming),
	guarantee.Nonce192, guarantee.Poly1305TwoKeys, guarantee.RepeatedStream,
)
