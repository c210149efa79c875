package mcppy

import (
	"slices"

	"sealab/codecs"
	"sealab/codecs/claims"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

// The option and its values.
const ()

// Design is the catalog's row.
var Design = codecs.Design{
	Name:   "mcp-py",
	Doc:    "Python SDK: AES-256-GCM with claims",
	Spec:   "modelcontextprotocol/python-sdk 57394b0, mcp.server.request_state",
	Prefix: format.Prefix,
	Format: "mcp-py",
	Options: []codecs.Option{
		framework.Reading("the SDK"),
	},
	Hooks:      &lab.Hooks{Primitive: "AES-256-GCM", Inspect: format.Inspect},
	Guarantees: guarantees,
	NewScheme: func(c codecs.Config) (codecs.Scheme, error) {
		codec, err := layouts.ForLab(NewCodec(c.Secrets...))
		if err != nil {
			return nil, err
		}
		return claims.NewReading(codec, claims.TTLOf(c), readings[framework.IsSDK(c.Options)])
	},
}

var readings = map[bool]claims.Reading{false: claims.Strict, true: claims.Faithful}

func guarantees(options map[string]string) []codecs.Guarantee {
	if !framework.IsSDK(options) {
		return common()
	}
	others := slices.DeleteFunc(common(), func(g codecs.Guarantee) bool { return g.Property == codecs.Expiry })
	return slices.Concat(others, codecs.Disclaims(codecs.Expiry, "json.loads takes Infinity: who holds a key can mint what never expires; for all others expiry holds"))
}

func common() []codecs.Guarantee {
	return slices.Concat(
		claims.Guarantees(),
		codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.Canonical, codecs.Rotation, codecs.KeySeparation,
			codecs.UniformRefusal, codecs.Total, codecs.StrongKeys),
		keyring.Guarantees(),
		codecs.HoldsBecause(codecs.SteadyTiming, "with AES instructions; without them AES looks tables up"),
		codecs.HoldsBecause(codecs.Unlinkable, "the principal is a salted digest inside what is encrypted"),
		codecs.HoldsBecause(codecs.FreshNonces, "random 96-bit nonces, for up to 2^32 tokens per key"),
		codecs.Disclaims(codecs.KeyCommitting, "GCM's tag is a polynomial: one ciphertext can be made to open under two known keys"),
		codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated nonce repeats the key stream"),
		codecs.Disclaims(codecs.SenderAuthenticated, "one symmetric key: who can verify can mint"),
	)
}
