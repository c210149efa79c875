package rmcp

import (
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

// The options and their values.
const (
	optionExpiry = "expiry"
	expiryTTL    = "ttl"
	expiryNever  = "never"

	optionBind  = "bind"
	bindNone    = "none"
	bindDocs    = "docs"
	bindRequest = "request"

	optionKeyID   = "kid"
	keyIDDerived  = "derived"
	keyIDNumbered = "numbered"

	optionRS1   = "rs1"
	rs1Refused  = "refused"
	rs1Fallback = "fallback"
)

const spec = "crate rmcp 3.9.0, rmcp::model::RequestStateCodec"

// RS1 is the catalog row of the format with one key.
var RS1 = codecs.Design{
	Name:       "rmcp-rs1",
	Doc:        "Rust SDK, one key: signed, readable, unbound unless the application binds",
	Spec:       spec,
	Prefix:     string(rs1.prefix),
	Format:     "rmcp-rs1",
	MaxKeys:    1,
	Options:    options(),
	Hooks:      &lab.Hooks{Inspect: inspectRS1, FewVectors: true, Allocates: allocates},
	Guarantees: func(o map[string]string) []codecs.Guarantee { return slices.Concat(oneKey(), guarantees(o)) },
	NewScheme:  layouts.SchemeForLab(newRS1, 0, (*scheme).mint),
}

// RS2 is the catalog row of the format with a key ring.
var RS2 = codecs.Design{
	Name:   "rmcp-rs2",
	Doc:    "Rust SDK, key ring: signed, readable, unbound unless the application binds",
	Spec:   spec,
	Prefix: string(rs2.prefix),
	Format: "rmcp-rs2",
	Options: append(options(),
		codecs.Option{Name: optionKeyID, Doc: "how the operator names keys", Values: []string{keyIDDerived, keyIDNumbered}},
		codecs.Option{Name: optionRS1, Doc: "whether the ring opens rs1 tokens", Values: []string{rs1Refused, rs1Fallback}}),
	Hooks:      &lab.Hooks{Inspect: inspectRS2, FewVectors: true, Allocates: allocates},
	Guarantees: func(o map[string]string) []codecs.Guarantee { return slices.Concat(ring(o), guarantees(o)) },
	NewScheme:  layouts.SchemeForLab(newRS2, 0, (*scheme).mint),
}

func options() []codecs.Option {
	return []codecs.Option{
		{Name: optionBind, Doc: "what the associated data are", Values: []string{bindNone, bindDocs, bindRequest}},
		{Name: optionExpiry, Doc: "whether tokens expire", Values: []string{expiryTTL, expiryNever}},
		framework.ReadingOf("only tokens that this configuration mints", "the SDK"),
	}
}

func guarantees(o map[string]string) []codecs.Guarantee {
	return slices.Concat(bindings(o[optionBind]), expiry(o[optionExpiry]), common())
}

func oneKey() []codecs.Guarantee {
	return slices.Concat(
		guarantee.OneKey,
		codecs.Holds(codecs.PrivateKeys),
		codecs.HoldsBecause(codecs.StrongKeys, "one key of at least 32 bytes, by try_new; new_unchecked takes any"),
	)
}

func ring(o map[string]string) []codecs.Guarantee {
	keys := slices.Concat(
		codecs.Holds(codecs.Rotation),
		codecs.Disclaims(codecs.PrivateKeys, "under kid=derived the key ID is a hash of the key; the crate lets the operator choose it"),
	)
	if o[optionKeyID] == keyIDNumbered {
		keys = slices.Concat(
			codecs.Disclaims(codecs.Rotation, "under kid=numbered the ID of a key depends on its place in the ring"),
			codecs.Holds(codecs.PrivateKeys),
		)
	}
	if framework.IsSDK(o) {
		return append(keys, codecs.Disclaims(codecs.StrongKeys, "a key may be in the ring twice, under two names")...)
	}
	return append(keys, guarantee.Keys32...)
}

func expiry(value string) []codecs.Guarantee {
	if value == expiryNever {
		return codecs.Disclaims(codecs.Expiry, "tokens do not expire")
	}
	return codecs.Disclaims(codecs.Expiry, "the format has no time of issue, so a token from a clock that runs ahead is accepted; a token is still accepted at its expiry")
}

func bindings(value string) []codecs.Guarantee {
	switch value {
	case bindDocs:
		return slices.Concat(
			codecs.Holds(codecs.BindsMethod, codecs.BindsTarget),
			codecs.Disclaims(codecs.BindsArguments, "the documented text has no arguments"),
			codecs.Disclaims(codecs.BindsPrincipal, "an absent principal counts as an empty one"),
			codecs.Disclaims(codecs.BindsAudience, "the documented text has no audience"),
			codecs.Disclaims(codecs.Unambiguous, "the documented text is joined: a | or : moves between principal, method and target"),
			guarantee.NoPrincipal,
		)
	case bindRequest:
		return slices.Concat(
			codecs.Holds(codecs.BindsMethod, codecs.BindsTarget, codecs.BindsPrincipal, codecs.BindsAudience),
			codecs.HoldsBecause(codecs.BindsArguments, "by a digest of the arguments as Python reads them; arguments of resources/read are ignored"),
			codecs.Disclaims(codecs.Unambiguous, "arguments that are absent, null, {}, [], \"\", 0 or false share one digest"),
			guarantee.NoPrincipal,
		)
	}
	return framework.Unbound("the associated data are empty unless the application supplies some")
}

func common() []codecs.Guarantee {
	return slices.Concat(
		codecs.Holds(codecs.Integrity, codecs.Canonical, codecs.UniformRefusal, codecs.SteadyTiming, codecs.Total, codecs.Inert, codecs.ByteExact),
		guarantee.NoNonce,
		codecs.Disclaims(codecs.Confidentiality, "the payload is readable, and equal payloads give equal tokens"),
		guarantee.EqualPayloads,
		codecs.Disclaims(codecs.KeySeparation, "the secret itself is the HMAC key: the label separates the formats, but different secrets can be equivalent"),
		guarantee.HMACTwins, guarantee.Symmetric, guarantee.Stateless,
	)
}

// allocates is why the designs may allocate.
const allocates = "it is here to be compared with the crate, and keeps no room for the parts of a token"

func inspectRS1(token []byte) ([]lab.Field, error) {
	return layouts.ParseDotted(string(rs1.prefix), token, lab.WireBody, lab.WireTag)
}

func inspectRS2(token []byte) ([]lab.Field, error) {
	return layouts.ParseDotted(string(rs2.prefix), token, lab.WireKeyID, lab.WireBody, lab.WireTag)
}
