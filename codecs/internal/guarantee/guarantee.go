// Package guarantee has guarantees that several designs state for the same
// reason.
package guarantee

import "sealab/codecs"

// Keys.
var (
	// Symmetric is for designs under one secret that both mints and verifies.
	Symmetric = codecs.Disclaims(codecs.SenderAuthenticated, "one symmetric key: whoever can open tokens can mint them")
	// OneKey is for designs without a ring.
	OneKey = codecs.Disclaims(codecs.Rotation, "one key")
	// OneKeyNoID is for formats whose libraries try several keys in turn.
	OneKeyNoID = codecs.Disclaims(codecs.Rotation, "one key, and no key ID in the token")
	// KeyItself is for designs that derive no key.
	KeyItself = codecs.Disclaims(codecs.KeySeparation, "the secret itself is the key, and any other use of the secret shares it")
	// Key32 and Keys32 are for designs that refuse shorter secrets.
	Key32  = codecs.HoldsBecause(codecs.StrongKeys, "one key of at least 32 bytes")
	Keys32 = codecs.HoldsBecause(codecs.StrongKeys, "keys of at least 32 bytes")
	// ExactKey32 is for designs that take only secrets of 32 bytes.
	ExactKey32 = codecs.HoldsBecause(codecs.StrongKeys, "one key of exactly 32 bytes")
)

// Two keys for one token.
var (
	// GCMTwoKeys and Poly1305TwoKeys are for tags that are polynomials.
	GCMTwoKeys      = codecs.Disclaims(codecs.KeyCommitting, "GCM's tag is a polynomial: one ciphertext can be made to open under two known keys")
	Poly1305TwoKeys = codecs.Disclaims(codecs.KeyCommitting, "Poly1305 is a polynomial: one ciphertext can be made to open under two known keys")
	// HMACTwins is for HMAC under the secret itself.
	HMACTwins = codecs.Disclaims(codecs.KeyCommitting, "HMAC pads keys with zeros and hashes those over 64 bytes, so different keys can be equivalent")
)

// Nonces and initialization vectors.
var (
	// NoNonce is for deterministic designs.
	NoNonce = codecs.HoldsBecause(codecs.NonceMisuseResistant, "there is no nonce")
	// EqualClaims and EqualPayloads are for deterministic schemes and codecs.
	EqualClaims   = codecs.Disclaims(codecs.FreshNonces, "there is no nonce: equal claims give equal tokens")
	EqualPayloads = codecs.Disclaims(codecs.FreshNonces, "there is no nonce: equal payloads give equal tokens")
	// RepeatedStream is for stream ciphers and counter modes.
	RepeatedStream = codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated nonce repeats the key stream")
	// Nonce96, Nonce192 and IV128 are for random values of that many bits.
	Nonce96  = codecs.HoldsBecause(codecs.FreshNonces, "random 96-bit nonces, for up to 2^32 tokens per key")
	Nonce192 = codecs.HoldsBecause(codecs.FreshNonces, "random 192-bit nonces, for up to 2^80 tokens per key")
	IV128    = codecs.HoldsBecause(codecs.FreshNonces, "random 128-bit initialization vectors, for up to 2^48 blocks per key")
)

// Tokens and their states.
var (
	// Stateless is for designs without a store of used tokens.
	Stateless = codecs.Disclaims(codecs.SingleUse, "stateless")
	// AESTiming is for designs whose timing is that of AES.
	AESTiming = codecs.HoldsBecause(codecs.SteadyTiming, "with AES instructions; without them AES uses table lookups")
	// NoPrincipal is for tokens without a principal or a digest of one.
	NoPrincipal = codecs.HoldsBecause(codecs.Unlinkable, "a token contains neither the principal nor a digest of it")
	// ReadableClaims is for schemes that sign and do not encrypt.
	ReadableClaims = codecs.Disclaims(codecs.Confidentiality, "the claims are readable, and equal claims give equal tokens")
	// UTF8 and WTF8 are for formats that carry states as text.
	UTF8 = codecs.HoldsBecause(codecs.ByteExact, "for UTF-8 states; minting fails for others")
	WTF8 = codecs.HoldsBecause(codecs.ByteExact, "for WTF-8 states; minting fails for others")
)

// What a format does not hold.
var (
	NoMethod    = codecs.Disclaims(codecs.BindsMethod, "the format has no method")
	NoArguments = codecs.Disclaims(codecs.BindsArguments, "the format has no arguments")
	NoAudience  = codecs.Disclaims(codecs.BindsAudience, "the format has no audience")
	// NoIssue is for formats with an expiry but no time of issue.
	NoIssue = codecs.Disclaims(codecs.Expiry, "the format has no time of issue, so a token from a clock that runs ahead is accepted; a token is still accepted at exp")
)
