package mcpts

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
	optionBind    = "bind"
	bindNone      = "none"
	bindPrincipal = "principal"
	bindRequest   = "request"
)

// Design is the catalog row. Like bind=none, the SDK binds no field unless the
// application gives it a callback.
var Design = codecs.Design{
	Name:    "mcp-ts",
	Doc:     "TypeScript SDK: signed, readable, unbound unless the application binds",
	Spec:    "npm @modelcontextprotocol/server 2.4.0, createRequestStateCodec",
	Prefix:  prefix,
	Format:  "mcp-ts",
	MaxKeys: 1,
	Options: []codecs.Option{
		{Name: optionBind, Doc: "what the bind callback returns", Values: []string{bindNone, bindPrincipal, bindRequest}},
		framework.Payload,
		framework.Reading("the SDK"),
	},
	Hooks:      &lab.Hooks{Primitive: "HMAC-SHA256", Inspect: inspect},
	Guarantees: guarantees,
	NewScheme:  layouts.SchemeForLab(newScheme, 0, (*scheme).mint),
}

func guarantees(options map[string]string) []codecs.Guarantee {
	return slices.Concat(bindings[options[optionBind]],
		framework.Canonical(options, "the segment of the mac is decoded by atob: white space, + and /, padding and spare bits are accepted"),
		framework.ByteExact(options, guarantee.WTF8, "JSON.stringify"), common())
}

// bindings maps the values of the option bind to their guarantees.
var bindings = map[string][]codecs.Guarantee{
	bindNone:      slices.Concat(framework.Unbound("the SDK binds nothing unless the application gives it a bind callback"), codecs.Holds(codecs.PrivateKeys)),
	bindPrincipal: principalGuarantees(),
	bindRequest:   boundGuarantees(),
}

// publishedTag is the reason why a bind tag lets an attacker check a guessed
// key.
const publishedTag = "the bind tag is a second MAC under the key"

func principalGuarantees() []codecs.Guarantee {
	const reason = "the callback returns the principal alone"
	return slices.Concat(
		codecs.Disclaims(codecs.BindsMethod, reason),
		codecs.Disclaims(codecs.BindsTarget, reason),
		codecs.Disclaims(codecs.BindsArguments, reason),
		codecs.Disclaims(codecs.BindsAudience, reason),
		codecs.Disclaims(codecs.BindsPrincipal, "an absent principal counts as an empty one"),
		codecs.Disclaims(codecs.Unambiguous, reason),
		codecs.Disclaims(codecs.Unlinkable, "the bind tag is unsalted: the tokens of a principal share it"),
		codecs.Disclaims(codecs.PrivateKeys, publishedTag),
	)
}

func boundGuarantees() []codecs.Guarantee {
	return slices.Concat(
		codecs.Holds(codecs.BindsMethod, codecs.BindsTarget, codecs.BindsPrincipal, codecs.BindsAudience),
		codecs.HoldsBecause(codecs.BindsArguments, "by a digest of the arguments as Python reads them; arguments of resources/read are ignored"),
		codecs.Disclaims(codecs.Unambiguous, "lone surrogates become U+FFFD; arguments that are absent, null, {}, [], \"\", 0 or false share one digest"),
		codecs.Disclaims(codecs.Unlinkable, "the bind tag is unsalted: equal contexts give equal tags"),
		codecs.Disclaims(codecs.PrivateKeys, publishedTag),
	)
}

func common() []codecs.Guarantee {
	return slices.Concat(
		codecs.Holds(codecs.Integrity, codecs.UniformRefusal, codecs.SteadyTiming, codecs.Total, codecs.Inert),
		guarantee.NoNonce, guarantee.Key32, guarantee.ReadableClaims, guarantee.EqualClaims,
		guarantee.NoIssue, guarantee.OneKey,
		codecs.Disclaims(codecs.KeySeparation, "the secret itself is the HMAC key, and any other use of the secret shares it"),
		guarantee.HMACTwins, guarantee.Symmetric, guarantee.Stateless,
	)
}

// inspect splits a canonical token into fields.
func inspect(token []byte) ([]lab.Field, error) {
	return layouts.ParseDotted(prefix, token, lab.WireBody, lab.WireTag)
}
