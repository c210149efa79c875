package laravel

import (
	"slices"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/guarantee"
	"sealab/internal/lab"
)

const allocates = "segments are decoded to buffers of their own"

// Encrypter is the catalog row of laravel-encrypter.
var Encrypter = codecs.Design{
	Name:    "laravel-encrypter",
	Doc:     "Laravel's Encrypter: AES-256-CBC and HMAC-SHA256 under one key, JSON in base64",
	Spec:    "illuminate/encryption 8.83, Encrypter::encryptString with aes-256-cbc",
	Prefix:  prefix,
	Format:  "laravel-encrypter",
	MaxKeys: 1, KeySize: keySize,
	Options: []codecs.Option{framework.Reading("the library")},
	Hooks:   &lab.Hooks{Inspect: inspect, Other: "+/=", TokenSize: tokenSize, Allocates: allocates},
	NewCodec: func(c codecs.Config) (codecs.Codec, error) {
		return framework.NewCodec(c.Secrets, func(secret []byte) (framework.Format, error) {
			return newEncrypter(secret, c.Options)
		})
	},
	Guarantees: func(options map[string]string) []codecs.Guarantee {
		return slices.Concat(common(options),
			codecs.Disclaims(codecs.UniformRefusal, "the library reports a malformed payload, a wrong MAC and a decryption error differently"),
			codecs.HoldsBecause(codecs.Inert, "with encryptString; encrypt serializes, and PHP's unserialize creates objects after authentication"))
	},
}

// MCP is the catalog row of mcp-laravel.
var MCP = codecs.Design{
	Name:    "mcp-laravel",
	Doc:     "laravel/mcp pull request 328: a PHP array under Laravel's Encrypter, bound to request and user",
	Spec:    "laravel/mcp e24ca59, JsonRpcRequest::encodeRequestState",
	Prefix:  prefix,
	Format:  "mcp-laravel",
	MaxKeys: 1, KeySize: keySize,
	Options: []codecs.Option{framework.Reading("the SDK")},
	Hooks:   &lab.Hooks{Inspect: inspect, Other: "+/=", FewVectors: true, Unjudged: true, Allocates: allocates},
	NewScheme: framework.SchemeOpener(func(secret []byte, ttl time.Duration, options map[string]string) (framework.Format, error) {
		e, err := newEncrypter(secret, options)
		return &requestState{e, ttl}, err
	}),
	Guarantees: func(options map[string]string) []codecs.Guarantee {
		return slices.Concat(common(options),
			codecs.Holds(codecs.BindsMethod, codecs.BindsTarget, codecs.BindsPrincipal),
			codecs.Disclaims(codecs.BindsArguments, "[] and {} share a digest, and so do a list and an object whose names are its indices"),
			codecs.Disclaims(codecs.BindsAudience, "the format has no audience: another application with the key accepts its tokens"),
			codecs.Disclaims(codecs.Unambiguous, "arguments are PHP arrays: [] and {}, and 1 and 1.0, share a digest"),
			codecs.Disclaims(codecs.Expiry, "the format has no time of issue, so a token from a clock that runs ahead is accepted; a token is still accepted at expiresAt"),
			codecs.Disclaims(codecs.UniformRefusal, "the server tells the client which check failed: integrity, another request, or expiry"),
			codecs.Disclaims(codecs.Inert, "PHP's unserialize creates objects from the plaintext, after authentication"),
			codecs.HoldsBecause(codecs.Unlinkable, "the principal is encrypted"),
			guarantee.Stateless,
		)
	},
}

func common(options map[string]string) []codecs.Guarantee {
	reading := codecs.Holds(codecs.Canonical, codecs.Integrity)
	if framework.IsSDK(options) {
		reading = slices.Concat(
			codecs.Disclaims(codecs.Canonical, "base64_decode skips foreign characters and ignores spare bits"),
			codecs.Disclaims(codecs.Integrity, "JSON members other than iv, value and mac are not authenticated"),
		)
	}
	return slices.Concat(reading,
		codecs.Holds(codecs.Confidentiality, codecs.Total, codecs.ByteExact, codecs.PrivateKeys),
		guarantee.AESTiming, guarantee.ExactKey32, guarantee.IV128,
		codecs.HoldsBecause(codecs.KeyCommitting, "a token that opens under two keys of 32 bytes needs a collision of HMAC-SHA256"),
		guarantee.OneKeyNoID,
		codecs.Disclaims(codecs.KeySeparation, "the secret itself is the key of encryption and tag, and any other use of the secret shares it"),
		codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated initialization vector reveals how many leading blocks two states share"),
		guarantee.Symmetric,
	)
}
