// Package hpkepsk implements the design hpke-psk: one HPKE message per token
// (RFC 9180, mode_psk, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM).
//
// Layout, with a payload of m bytes:
//
//	token = "sp1." || base64url(key-id[4] || encapsulation[32] || ciphertext[m] || tag[16])
//	associated data = "sp1." || key-id, sequence number 0
//	key pair, psk, psk_id, info = package hpkekeys under the label "sealab/hpke-psk/v1"
//	key-id = keyring derivation under the same label
//
// Each token has its own encapsulation, and therefore its own key and nonce.
// Only the canonical encoding of an encapsulation is accepted. Points of low
// order are refused.
//
// The roles can be split. A [Minter] holds the public key and the pre-shared
// key. It seals and cannot read, not even its own tokens. An [Opener] holds the
// private key and the pre-shared key. HPKE's base mode would not suffice: it
// does not authenticate the sender, so anyone with the public key could mint.
//
// Limits: any number of tokens. A payload has at most 2^36 - 32 bytes. Sealing
// takes two scalar multiplications, unsealing one. Sealing allocates 120 times
// and unsealing 96 times, almost all in the set-up of the HPKE context: its 10
// and 8 steps of HKDF each create an HMAC. A context cannot serve another
// token, because its key comes from the encapsulation. Package hpkesession uses
// one context for many tokens.
//
// Limitations: an opener can mint, because it holds the pre-shared key and can
// compute the public key. There is no forward secrecy: the private key opens
// every token that was sealed to it. There is no key commitment, no hidden
// payload length, and no security against quantum computers. Package claims
// adds time, user and request.
package hpkepsk

import (
	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/hpkekeys"
	"sealab/codecs/internal/keyring"
	"sealab/internal/lab"
)

const (
	label   = "sealab/hpke-psk/v1"
	prefix  = "sp1."
	idSize  = len(keyring.ID{})
	tagSize = 16
	// minRaw is the number of bytes of a token besides its payload.
	minRaw = idSize + hpkekeys.EncSize + tagSize
)

// A Codec is a minter and an opener under one ring. The catalog row wraps it in
// a lab.Assembler.
type Codec struct {
	Minter
	Opener
}

// New returns a [codecs.Codec] that seals under the first secret and unseals
// under each; an empty ring and a short, weak, repeated or colliding secret are
// errors.
func New(secrets ...[]byte) (*Codec, error) {
	ring, err := keyring.New(secrets, label, func(key []byte, id keyring.ID) (*hpkekeys.PrivateKey, error) {
		return hpkekeys.Derive(hpkekeys.X25519, key, id, label), nil
	})
	if err != nil {
		return nil, err
	}
	return &Codec{Minter{&ring.First().Key.PublicKey}, Opener{ring}}, nil
}

// Ephemeral returns a codec under a fresh random secret. No other process can
// open its tokens.
func Ephemeral() *Codec {
	return keyring.Ephemeral(New)
}

// Split returns the keys of two parties, each of hpkekeys.PartySize bytes: the
// minter's key for NewMinter and the opener's key for NewOpener. Neither party
// needs the secret, and neither can compute it.
func Split(secret []byte) (minter, opener []byte, err error) {
	c, err := New(secret)
	if err != nil {
		return nil, nil, err
	}
	if minter, err = c.Minter.key.Encode(); err != nil {
		return nil, nil, err
	}
	opener, err = c.Opener.ring.First().Key.Encode()
	return minter, opener, err
}

// Design is the catalog row.
var Design = codecs.Design{
	Name:   "hpke-psk",
	Doc:    "encrypted to a public key, one HPKE message in PSK mode per token; roles can be split",
	Spec:   "RFC 9180, mode_psk, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM; RFC 5869",
	Prefix: prefix,
	NewCodec: func(c codecs.Config) (codecs.Codec, error) {
		codec, err := New(c.Secrets...)
		if err != nil {
			return nil, err
		}
		return assembler{codec}, nil
	},
	Hooks: &lab.Hooks{
		Facts: &lab.Facts{
			ForgeryBits:     127,
			ForgeryPerBlock: true,
			Quantum:         "X25519 falls to Shor's algorithm",
			Use:             "hpkepsk.New(secret)",
			Languages:       []string{"python"},
		},
		TokenSize: func(m int) int { return len(prefix) + base64url.EncodedLen(minRaw+m) },
		Allocates: "every token sets up an HPKE context of its own, in 10 steps of HKDF to seal and 8 to unseal, each with an HMAC of its own",
		Inspect:   inspect,
	},
	Guarantees: codecs.Always(
		keyring.Guarantees(),
		guarantee.AESTiming,
		codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.Rotation, codecs.KeySeparation,
			codecs.UniformRefusal, codecs.Total, codecs.ByteExact, codecs.StrongKeys),
		codecs.HoldsBecause(codecs.Canonical, "base64url and the X25519 encapsulation are both accepted in one spelling only"),
		codecs.HoldsBecause(codecs.FreshNonces, "each token has its own encapsulation, and so its own key and nonce"),
		guarantee.GCMTwoKeys,
		codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated seed repeats encapsulation, key and nonce, and so the key stream"),
		codecs.Disclaims(codecs.SenderAuthenticated, "an opener holds the pre-shared key and can compute the public key: whoever can unseal can seal, though a split minter cannot unseal"),
	),
}
