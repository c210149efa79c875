package signedjson

import (
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

// prefix is the base64url of the first bytes of all claims: {"
const prefix = "eyJ"

// allocates is why the designs may allocate.
const allocates = "it is here to be compared with the original, and parses claims to a tree"

var reading = framework.Reading("the original")

// PHP is the catalog row of the PHP SDK.
var PHP = codecs.Design{
	Name:    "mcp-php",
	Doc:     "PHP SDK: signed, readable, unbound, no version",
	Spec:    "modelcontextprotocol/php-sdk c882401, Mcp\\Server\\Stateless\\RequestStateCodec",
	Prefix:  prefix,
	Format:  "mcp-php",
	MaxKeys: 1,
	Options: []codecs.Option{reading},
	Hooks:   &lab.Hooks{Inspect: inspect, FewVectors: true, Unjudged: true, Allocates: allocates},
	Guarantees: func(o map[string]string) []codecs.Guarantee {
		return slices.Concat(framework.Canonical(o, "the segment of the mac is decoded by base64_decode: white space, + and /, padding and spare bits are accepted"), common(), unbound(), oneKey(),
			guarantee.NoIssue,
		)
	},
	NewScheme: layouts.SchemeForLab(newPHP, php{}.seedSize(), (*scheme).mint),
}

// Run is the catalog row of the npm package.
var Run = codecs.Design{
	Name:   "run-continuation",
	Doc:    "npm run: continuation tokens, signed, readable, canonical JSON, unbound",
	Spec:   "npm run 2.1.5, createSignedContinuationCodec",
	Prefix: prefix,
	Format: "run-continuation",
	Options: []codecs.Option{
		{Name: framework.OptionPayload, Doc: "whether the state in the application's object is text or JSON", Values: framework.Payload.Values},
		reading,
	},
	Hooks: &lab.Hooks{Inspect: inspect, FewVectors: true, Allocates: allocates},
	Guarantees: func(o map[string]string) []codecs.Guarantee {
		keys := guarantee.Keys32
		if framework.IsSDK(o) {
			keys = codecs.Disclaims(codecs.StrongKeys, "a key may be in the ring twice")
		}
		return slices.Concat(framework.ByteExact(o, guarantee.UTF8, "JSON.stringify"), keys, common(), unbound(),
			codecs.Holds(codecs.Canonical, codecs.Rotation, codecs.Expiry),
			codecs.HoldsBecause(codecs.FreshNonces, "128 random bits, which make equal states unequal tokens"),
			codecs.Disclaims(codecs.KeySeparation, "the secret itself is the HMAC key: a label separates its uses, but different secrets can be equivalent"),
			codecs.Disclaims(codecs.SingleUse, "stateless; the package run also has a stored codec, which is single-use"),
		)
	},
	NewScheme: layouts.SchemeForLab(newRun, run{}.seedSize(), (*scheme).mint),
}

// Swift is the catalog row of SwiftMCP.
var Swift = codecs.Design{
	Name:    "mcp-swift",
	Doc:     "SwiftMCP: signed, readable, bound to request and bearer token, no version",
	Spec:    "Cocoanetics/SwiftMCP ad39954, HMACRequestStateSigner and MRTRRequestState",
	Prefix:  prefix,
	Format:  "mcp-swift",
	MaxKeys: 1,
	Options: []codecs.Option{reading},
	Hooks:   &lab.Hooks{Inspect: inspect, FewVectors: true, Unjudged: true, Allocates: allocates},
	Guarantees: func(o map[string]string) []codecs.Guarantee {
		return slices.Concat(framework.Canonical(o, "the decoded claims are authenticated: + and /, padding, spare bits and leading full stops are accepted"), common(), oneKey(),
			codecs.Holds(codecs.BindsMethod, codecs.BindsTarget, codecs.BindsPrincipal),
			codecs.Disclaims(codecs.BindsArguments, "numbers are doubles, so different integers over 2^53 can share a digest"),
			guarantee.NoAudience,
			codecs.Disclaims(codecs.Unambiguous, "numbers in arguments are doubles"),
			codecs.Disclaims(codecs.Unlinkable, "the principal is an unsalted hash of the bearer token: it confirms a guess and links the tokens of a user"),
			codecs.Disclaims(codecs.Expiry, "the SDK does not check iat, so a token from a clock that runs ahead is accepted"),
		)
	},
	NewScheme: layouts.SchemeForLab(newSwift, swift{}.seedSize(), (*scheme).mint),
}

// oneKey returns the guarantees of a format that signs a text under its only
// key, with neither nonce nor label.
func oneKey() []codecs.Guarantee {
	return slices.Concat(
		guarantee.UTF8, guarantee.Key32, guarantee.OneKey, guarantee.EqualClaims,
		codecs.Disclaims(codecs.KeySeparation, "the secret itself is the HMAC key, without a label: any other use of the secret shares it"),
		guarantee.Stateless,
	)
}

func unbound() []codecs.Guarantee {
	return framework.Unbound("the format does not bind the request; only the application can")
}

func common() []codecs.Guarantee {
	return slices.Concat(
		codecs.Holds(codecs.Integrity, codecs.UniformRefusal, codecs.SteadyTiming, codecs.Total, codecs.Inert, codecs.PrivateKeys),
		codecs.HoldsBecause(codecs.NonceMisuseResistant, "the format has no cipher and so no nonce of one"),
		codecs.Disclaims(codecs.Confidentiality, "the claims are readable"),
		guarantee.HMACTwins, guarantee.Symmetric,
	)
}
