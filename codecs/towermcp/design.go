package towermcp

import (
	"bytes"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

// The options and their values.
const (
	optionLimit = "limit"
	limitNone   = "none"
	limitSDK    = "64KiB"
)

var options = []codecs.Option{
	framework.Payload,
	{Name: optionLimit, Doc: "the longest token", Values: []string{limitNone, limitSDK}},
	framework.Reading("the SDK"),
}

// V2 is the catalog row of the format with a key ring.
var V2 = codecs.Design{
	Name:       "tower-mcp-v2",
	Doc:        "Rust crate tower-mcp, key ring: signed, readable, bound to a subject",
	Spec:       "crate tower-mcp 0.25.0, RequestStateCodec",
	Prefix:     prefixV2,
	Format:     "tower-mcp-v2",
	Options:    options,
	Hooks:      &lab.Hooks{Inspect: inspectV2, FewVectors: true, Allocates: allocates},
	Guarantees: func(o map[string]string) []codecs.Guarantee { return slices.Concat(ring(o), guarantees(o)) },
	NewScheme:  layouts.SchemeForLab(newV2, 0, (*scheme).mint),
}

// V1 is the catalog row of the format with one key.
var V1 = codecs.Design{
	Name:       "tower-mcp-v1",
	Doc:        "Rust crate tower-mcp until 0.22, one key: signed, readable, bound to a subject",
	Spec:       "crate tower-mcp 0.22.2, RequestStateCodec",
	Prefix:     prefixV1,
	Format:     "tower-mcp-v1",
	MaxKeys:    1,
	Options:    options,
	Hooks:      &lab.Hooks{Inspect: inspectV1, FewVectors: true, Allocates: allocates},
	Guarantees: func(o map[string]string) []codecs.Guarantee { return slices.Concat(oneKey(), guarantees(o)) },
	NewScheme:  layouts.SchemeForLab(newV1, 0, (*scheme).mint),
}

func oneKey() []codecs.Guarantee {
	return slices.Concat(
		guarantee.OneKey,
		codecs.Holds(codecs.PrivateKeys),
		guarantee.Key32,
	)
}

func ring(o map[string]string) []codecs.Guarantee {
	keys := slices.Concat(
		codecs.Holds(codecs.Rotation),
		codecs.Disclaims(codecs.PrivateKeys, "the key ID is an unsalted hash of the key: it confirms a guessed key, and reveals which services share one"),
	)
	if framework.IsSDK(o) {
		return append(keys, codecs.Disclaims(codecs.StrongKeys, "a key may be in the ring twice")...)
	}
	return append(keys, guarantee.Keys32...)
}

func guarantees(o map[string]string) []codecs.Guarantee {
	return slices.Concat(framework.ByteExact(o, guarantee.UTF8, "serde_json"),
		codecs.Holds(codecs.Integrity, codecs.Canonical, codecs.UniformRefusal, codecs.SteadyTiming, codecs.Total, codecs.Inert, codecs.BindsPrincipal),
		guarantee.NoNonce, guarantee.NoMethod,
		codecs.Disclaims(codecs.BindsTarget, "the format has no target"),
		guarantee.NoArguments, guarantee.NoAudience,
		codecs.Disclaims(codecs.Unambiguous, "only the principal distinguishes contexts"),
		codecs.Disclaims(codecs.Unlinkable, "the subject is readable"),
		codecs.Disclaims(codecs.Expiry, "the time of issue is not checked, so a token from a clock that runs ahead is accepted; a token is still accepted at expires_at"),
		guarantee.ReadableClaims, guarantee.EqualClaims,
		codecs.Disclaims(codecs.KeySeparation, "the secret itself is the HMAC key, and v1 has the framing of the TypeScript SDK: the MAC accepts its tokens"),
		guarantee.HMACTwins, guarantee.Symmetric, guarantee.Stateless,
	)
}

// allocates is why the designs may allocate.
const allocates = "it is here to be compared with the crate, and keeps no room for the parts of a token"

func inspectV1(token []byte) ([]lab.Field, error) {
	return layouts.ParseDotted(prefixV1, token, lab.WireBody, lab.WireTag)
}

func inspectV2(token []byte) ([]lab.Field, error) {
	rest, ok := bytes.CutPrefix(token, []byte(prefixV2))
	id, segments, cut := bytes.Cut(rest, []byte(layouts.Separator))
	if !ok || !cut {
		return nil, fmt.Errorf("the token does not begin with %q and a key ID", prefixV2)
	}
	fields, err := layouts.ParseDotted("", segments, lab.WireBody, lab.WireTag)
	if err != nil {
		return nil, err
	}
	return append([]lab.Field{
		{Name: lab.WirePrefix, Wire: []byte(prefixV2), Bytes: []byte(prefixV2), Readable: true},
		{Name: lab.WireKeyID, Wire: id, Bytes: id, Readable: true},
		{Name: lab.WireSep, Wire: []byte(layouts.Separator), Bytes: []byte(layouts.Separator), Readable: true},
	}, fields...), nil
}
