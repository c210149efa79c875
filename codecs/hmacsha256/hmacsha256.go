// Package hmacsha256 implements the design hmac-sha256: a readable payload with
// an HMAC-SHA256 tag (RFC 2104, FIPS 198-1).
//
// Layout, with a payload of m bytes:
//
//	token = "sh1." || base64url(key-id[4] || payload[m] || tag[32])
//	tag = HMAC-SHA256(key, "sh1." || key-id || payload)
//	key, key-id = keyring derivation under the label "sealab/hmac-sha256/v1"
//
// Limits: any number of tokens; the payload is bounded by memory.
//
// Limitations: no confidentiality. A holder of a token reads its payload, and equal
// payloads give equal tokens. Package claims adds time, user and request.
package hmacsha256

import (
	"sealab/codecs"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/codecs/internal/mac"
	"sealab/internal/lab"
)

var format = layouts.Signed{
	Prefix: "sh1.", TagSize: mac.Size,
	Label:  "sealab/hmac-sha256/v1",
	Signer: func(key []byte, _ keyring.ID) (layouts.Signer, error) { return signer{mac.New(key)}, nil },
}

var errTag = codecs.Reject(codecs.Unauthentic, "tag")

// A signer signs with HMAC-SHA256.
type signer struct{ key *mac.Key }

// Sign implements layouts.Signer. It always succeeds.
func (s signer) Sign(dst, message []byte) ([]byte, error) { return s.key.Append(dst, message), nil }

// Verify implements layouts.Signer.
func (s signer) Verify(message, tag []byte) error {
	if !s.key.Verify(tag, message) {
		return errTag
	}
	return nil
}

// New returns a [codecs.Codec] that seals under the first secret and unseals
// under each; an empty ring and a short, weak, repeated or colliding secret are
// errors.
func New(secrets ...[]byte) (*layouts.SignedCodec, error) { return format.New(secrets...) }

// Ephemeral returns a codec under a fresh random secret. No other process can
// open its tokens.
func Ephemeral() *layouts.SignedCodec { return keyring.Ephemeral(New) }

// Design is the catalog row.
var Design = format.Design(codecs.Design{
	Name: "hmac-sha256",
	Doc:  "readable, signed with HMAC-SHA256",
	Spec: "RFC 2104; FIPS 198-1; RFC 5869",
	Hooks: &lab.Hooks{
		Facts: &lab.Facts{
			ForgeryBits: 256,
			Approved:    "FIPS 198-1, SP 800-56C",
			Use:         "hmacsha256.New(secret)",
			Languages:   []string{"java", "ruby", "rust"},
		},
		Primitive: "HMAC-SHA256",
	},
},
	codecs.Holds(codecs.SteadyTiming),
	codecs.HoldsBecause(codecs.KeyCommitting, "two keys with the same tag need a collision of HMAC-SHA256 under derived keys"),
	guarantee.Symmetric,
)
