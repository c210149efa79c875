package jwe

import (
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/internal/lab"
)

// The catalog's rows.
var (
	GCM = a256GCM.design("jwe-dir-a256gcm", "JWE with a shared key: AES-256-GCM, as jose and joserfc mint it", slices.Concat(
		codecs.HoldsBecause(codecs.FreshNonces, "random 96-bit nonces, for up to 2^32 tokens per key"),
		codecs.Disclaims(codecs.KeyCommitting, "GCM's tag is a polynomial: one ciphertext can be made to open under two known keys"),
		codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated nonce repeats the key stream"),
	))
	CBC = a128CBC.design("jwe-dir-a128cbc-hs256", "JWE with a shared key: AES-128-CBC and HMAC-SHA256, as jose and joserfc mint it", slices.Concat(
		codecs.HoldsBecause(codecs.FreshNonces, "random 128-bit initialisation vectors, for up to 2^48 blocks per key"),
		codecs.Disclaims(codecs.KeyCommitting, "the key of the tag says nothing of the key of the encryption: two secrets that share it open one token"),
		codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated initialisation vector shows how many first blocks two payloads share"),
	))
)

func (e encryption) design(name, doc string, own []codecs.Guarantee) codecs.Design {
	return codecs.Design{
		Name: name, Doc: doc, Format: name,
		Options: []codecs.Option{framework.Reading("jose")},
		Spec:    "RFC 7516, RFC 7518 (dir, " + e.name + ")",
		Prefix:  e.header() + "..",
		MaxKeys: 1, KeySize: keySize,
		NewCodec: e.newCodec,
		Hooks: &lab.Hooks{
			Inspect: e.inspect, TokenSize: e.tokenSize, FewVectors: true,
			Allocates: "segments are decoded to buffers of their own",
		},
		Guarantees: func(options map[string]string) []codecs.Guarantee {
			return slices.Concat(own, encoding(options), common)
		},
	}
}

func encoding(options map[string]string) []codecs.Guarantee {
	if framework.IsSDK(options) {
		return codecs.Disclaims(codecs.Canonical, "segments are decoded by atob: white space, padding and spare bits pass")
	}
	return codecs.Holds(codecs.Canonical)
}

var common = slices.Concat(
	codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.UniformRefusal, codecs.Total, codecs.ByteExact, codecs.Inert, codecs.PrivateKeys),
	codecs.HoldsBecause(codecs.StrongKeys, "one key of exactly 32 bytes"),
	codecs.HoldsBecause(codecs.SteadyTiming, "with AES instructions; without them AES looks tables up"),
	codecs.Disclaims(codecs.Rotation, "one key, and no key ID in the token"),
	codecs.Disclaims(codecs.KeySeparation, "the secret is the key itself and serves whatever else it is used for"),
	codecs.Disclaims(codecs.SenderAuthenticated, "one symmetric key: who can unseal can seal"),
)
