package mcprb

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
	optionDigest = "digest"
	digestSDK    = "sdk"
	digestGiven  = "given"
)

// Design is the catalog row.
var Design = codecs.Design{
	Name:    "mcp-rb",
	Doc:     "Ruby SDK: AES-256-GCM under the secret itself",
	Spec:    "modelcontextprotocol/ruby-sdk fcb1ac9, MCP::Server::RequestStateSecurity",
	Prefix:  prefix,
	Format:  "mcp-rb",
	MaxKeys: 1,
	KeySize: keySize,
	Options: []codecs.Option{
		{Name: optionDigest, Doc: "whether arguments are digested, or are a JSON string that is the digest", Values: []string{digestSDK, digestGiven}},
		framework.Reading("the SDK"),
	},
	Hooks:      &lab.Hooks{Primitive: "AES-256-GCM", Inspect: inspect},
	Guarantees: guarantees,
	NewScheme:  layouts.SchemeForLab(newScheme, ivSize, (*scheme).mint),
}

func guarantees(options map[string]string) []codecs.Guarantee {
	return slices.Concat(framework.Canonical(options, "+ and / are accepted for - and _, and correct padding is accepted"), digests(options[optionDigest]), common())
}

func digests(digest string) []codecs.Guarantee {
	if digest == digestGiven {
		return codecs.Disclaims(codecs.BindsArguments, "under digest=given the caller supplies the digest, and the arguments are not checked")
	}
	return codecs.HoldsBecause(codecs.BindsArguments, "by a digest of the arguments as Ruby reads them")
}

func common() []codecs.Guarantee {
	return slices.Concat(
		codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.BindsMethod, codecs.BindsTarget, codecs.BindsAudience,
			codecs.UniformRefusal, codecs.Total, codecs.Inert, codecs.PrivateKeys),
		guarantee.AESTiming, guarantee.UTF8,
		codecs.HoldsBecause(codecs.FreshNonces, "random 96-bit IVs, for up to 2^32 tokens per key"),
		guarantee.ExactKey32, guarantee.NoPrincipal,
		codecs.Disclaims(codecs.BindsPrincipal, "the format has no principal"),
		codecs.Disclaims(codecs.Unambiguous, "arguments that are absent, null, false or {} share one digest; principals are not distinguished"),
		guarantee.NoIssue, guarantee.OneKey, guarantee.KeyItself, guarantee.GCMTwoKeys,
		codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated IV repeats the key stream"),
		guarantee.Symmetric, guarantee.Stateless,
	)
}

// inspect splits a canonical token into fields.
func inspect(token []byte) ([]lab.Field, error) {
	return layouts.ParseJoined(prefix, token, layouts.Piece{Name: lab.WireNonce, Bytes: ivSize},
		layouts.Piece{Name: lab.WireBody}, layouts.Piece{Name: lab.WireTag, Bytes: tagSize})
}
