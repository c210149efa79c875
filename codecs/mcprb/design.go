package mcprb

import (
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/internal/lab"
)

// The options and their values.
const (
	optionDigest = "digest"
	digestSDK    = "sdk"
	digestGiven  = "given"
)

// Design is the catalog's row for the strict reading.
var Design = row("mcp-rb", "Ruby SDK: AES-256-GCM under the secret itself; canonical spelling only", false)

// Faithful is the catalog's row for the reading of the SDK itself.
var Faithful = row("mcp-rb-faithful", "Ruby SDK, answering exactly as it does", true)

func row(name, doc string, faithful bool) codecs.Design {
	return codecs.Design{
		Name:    name,
		Doc:     doc,
		Spec:    "modelcontextprotocol/ruby-sdk fcb1ac9, MCP::Server::RequestStateSecurity",
		Prefix:  prefix,
		Format:  "mcp-rb",
		MaxKeys: 1,
		KeySize: keySize,
		Options: []codecs.Option{
			{Name: optionDigest, Doc: "whether arguments are digested, or are a JSON string that is the digest", Values: []string{digestSDK, digestGiven}},
		},
		Hooks:      &lab.Hooks{Inspect: inspect},
		Guarantees: slices.Concat(spelling(faithful), guarantees()),
		NewScheme:  func(c codecs.Config) (codecs.Scheme, error) { return New(c, faithful) },
	}
}

func spelling(faithful bool) []codecs.Guarantee {
	if faithful {
		return codecs.Disclaims(codecs.Canonical, "+ and / pass for - and _, and correct padding passes")
	}
	return codecs.Holds(codecs.Canonical)
}

func guarantees() []codecs.Guarantee {
	return slices.Concat(
		codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.BindsMethod, codecs.BindsTarget, codecs.BindsAudience,
			codecs.UniformRefusal, codecs.SteadyTiming, codecs.Total),
		codecs.HoldsBecause(codecs.BindsArguments, "by a digest of the arguments as Ruby reads them"),
		codecs.HoldsBecause(codecs.ByteExact, "for UTF-8 states; others are not minted"),
		codecs.HoldsBecause(codecs.FreshNonces, "random 96-bit ivs, for up to 2^32 tokens per key"),
		codecs.HoldsBecause(codecs.StrongKeys, "one key of exactly 32 bytes"),
		codecs.HoldsBecause(codecs.Unlinkable, "a token holds nothing of the principal"),
		codecs.Disclaims(codecs.BindsPrincipal, "the format has no principal"),
		codecs.Disclaims(codecs.Unambiguous, "arguments that are absent, null, false or {} share one digest; principals are not told apart"),
		codecs.Disclaims(codecs.Expiry, "nothing says when a token was issued, so one from a clock that runs ahead is good; and exp itself is not too late"),
		codecs.Disclaims(codecs.Rotation, "one key"),
		codecs.Disclaims(codecs.KeySeparation, "the secret is the key itself and serves whatever else it is used for"),
		codecs.Disclaims(codecs.KeyCommitting, "GCM's tag is a polynomial: one ciphertext can be made to open under two known keys"),
		codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated iv repeats the key stream"),
		codecs.Disclaims(codecs.SenderAuthenticated, "one symmetric key: who can verify can mint"),
		codecs.Disclaims(codecs.SingleUse, "stateless"),
	)
}

// inspect takes a canonically spelt token apart.
func inspect(token []byte) ([]lab.Field, error) {
	text, raw, err := base64url.Parse(prefix, ivSize+tagSize, token)
	if err != nil {
		return nil, err
	}
	tag := len(raw) - tagSize
	return []lab.Field{
		{Name: lab.WirePrefix, Wire: []byte(prefix), Bytes: []byte(prefix), Readable: true},
		{Name: lab.WireNonce, Wire: text, Bytes: raw[:ivSize]},
		{Name: lab.WireBody, Bytes: raw[ivSize:tag]},
		{Name: lab.WireTag, Bytes: raw[tag:]},
	}, nil
}
