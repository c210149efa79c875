package mcppy

import (
	"slices"

	"sealab/codecs"
	"sealab/codecs/claims"
	"sealab/internal/lab"
)

// Design is the catalog's row for the strict reading.
var Design = row("mcp-py", "Python SDK: AES-256-GCM with claims, canonical claims only", claims.Strict, nil)

// Faithful is the catalog's row for the reading of the SDK itself.
var Faithful = row("mcp-py-faithful", "Python SDK, answering exactly as it does", claims.Faithful,
	codecs.Disclaims(codecs.Expiry, "json.loads takes Infinity: who holds a key can mint what never expires; for all others expiry holds"))

// row returns a row; instead are guarantees that replace those of the claims.
func row(name, doc string, reading claims.Reading, instead []codecs.Guarantee) codecs.Design {
	replaced := func(g codecs.Guarantee) bool {
		return slices.ContainsFunc(instead, func(i codecs.Guarantee) bool { return i.Property == g.Property })
	}
	return codecs.Design{
		Name:       name,
		Doc:        doc,
		Spec:       "modelcontextprotocol/python-sdk 57394b0, mcp.server.request_state",
		Prefix:     format.Prefix,
		Format:     "mcp-py",
		Hooks:      &lab.Hooks{Inspect: format.Inspect},
		Guarantees: slices.Concat(slices.DeleteFunc(guarantees(), replaced), instead),
		NewScheme: func(c codecs.Config) (codecs.Scheme, error) {
			return New(reading, claims.TTLOf(c), c.Secrets...)
		},
	}
}

func guarantees() []codecs.Guarantee {
	return slices.Concat(
		claims.Guarantees(),
		codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.Canonical, codecs.Rotation, codecs.KeySeparation,
			codecs.UniformRefusal, codecs.SteadyTiming, codecs.Total, codecs.StrongKeys),
		codecs.HoldsBecause(codecs.Unlinkable, "the principal is a salted digest inside what is encrypted"),
		codecs.HoldsBecause(codecs.FreshNonces, "random 96-bit nonces, for up to 2^32 tokens per key"),
		codecs.Disclaims(codecs.KeyCommitting, "GCM's tag is a polynomial: one ciphertext can be made to open under two known keys"),
		codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated nonce repeats the key stream"),
		codecs.Disclaims(codecs.SenderAuthenticated, "one symmetric key: who can verify can mint"),
	)
}
