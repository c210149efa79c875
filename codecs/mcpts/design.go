package mcpts

import (
	"bytes"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/internal/lab"
)

// The options and their values.
const (
	optionBind    = "bind"
	bindNone      = "none"
	bindPrincipal = "principal"
	bindRequest   = "request"

	optionPayload = "payload"
	payloadText   = "text"
	payloadJSON   = "json"
)

// Design is the catalog's row for the strict reading without a binding, as is
// the SDK's default.
var Design = row("mcp-ts", "TypeScript SDK: signed, readable, unbound; canonical spelling only", bindNone, false, unboundGuarantees())

// Bound is Design with a binding to everything there is.
var Bound = row("mcp-ts-bound", "TypeScript SDK with a bind callback for the whole request; canonical spelling only", bindRequest, false, boundGuarantees())

// Faithful is the reading of the SDK itself, without a binding.
var Faithful = row("mcp-ts-faithful", "TypeScript SDK, answering exactly as it does", bindNone, true, unboundGuarantees())

func row(name, doc, bind string, faithful bool, bindings []codecs.Guarantee) codecs.Design {
	binds := []string{bindNone, bindPrincipal, bindRequest}
	slices.SortStableFunc(binds, func(a, b string) int { return firstIs(bind, a) - firstIs(bind, b) })
	return codecs.Design{
		Name:    name,
		Doc:     doc,
		Spec:    "npm @modelcontextprotocol/server 2.4.0, createRequestStateCodec",
		Prefix:  prefix,
		Format:  "mcp-ts",
		MaxKeys: 1,
		Options: []codecs.Option{
			{Name: optionBind, Doc: "what the bind callback returns", Values: binds},
			{Name: optionPayload, Doc: "whether the state is the payload's text or its JSON", Values: []string{payloadText, payloadJSON}},
		},
		Hooks:      &lab.Hooks{Inspect: inspect},
		Guarantees: slices.Concat(bindings, spelling(faithful), common()),
		NewScheme:  func(c codecs.Config) (codecs.Scheme, error) { return New(c, faithful) },
	}
}

// firstIs sorts first before everything else.
func firstIs(first, value string) int {
	if value == first {
		return 0
	}
	return 1
}

func unboundGuarantees() []codecs.Guarantee {
	const none = "the SDK binds nothing unless the application gives it a bind callback"
	return slices.Concat(
		codecs.Disclaims(codecs.BindsMethod, none),
		codecs.Disclaims(codecs.BindsTarget, none),
		codecs.Disclaims(codecs.BindsArguments, none),
		codecs.Disclaims(codecs.BindsPrincipal, none),
		codecs.Disclaims(codecs.BindsAudience, none),
		codecs.Disclaims(codecs.Unambiguous, none),
		codecs.HoldsBecause(codecs.Unlinkable, "a token holds nothing of the principal"),
	)
}

func boundGuarantees() []codecs.Guarantee {
	return slices.Concat(
		codecs.Holds(codecs.BindsMethod, codecs.BindsTarget, codecs.BindsPrincipal, codecs.BindsAudience),
		codecs.HoldsBecause(codecs.BindsArguments, "by a digest of the arguments as Python reads them; those of resources/read are not looked at"),
		codecs.Disclaims(codecs.Unambiguous, "lone surrogates become U+FFFD; arguments that are absent, null, {}, [], \"\", 0 or false share one digest"),
		codecs.Disclaims(codecs.Unlinkable, "the bind tag is unsalted: equal contexts give equal tags"),
	)
}

func spelling(faithful bool) []codecs.Guarantee {
	if faithful {
		return codecs.Disclaims(codecs.Canonical, "the segment of the mac is decoded by atob: white space, + and /, padding and spare bits pass")
	}
	return codecs.Holds(codecs.Canonical)
}

func common() []codecs.Guarantee {
	return slices.Concat(
		codecs.Holds(codecs.Integrity, codecs.UniformRefusal, codecs.SteadyTiming, codecs.Total),
		codecs.HoldsBecause(codecs.ByteExact, "for WTF-8 states under payload=text; others are not minted"),
		codecs.HoldsBecause(codecs.NonceMisuseResistant, "there is no nonce"),
		codecs.HoldsBecause(codecs.StrongKeys, "one key of at least 32 bytes"),
		codecs.Disclaims(codecs.Confidentiality, "the claims are readable, and equal claims give equal tokens"),
		codecs.Disclaims(codecs.FreshNonces, "there is no nonce: equal claims give equal tokens"),
		codecs.Disclaims(codecs.Expiry, "nothing says when a token was issued, so one from a clock that runs ahead is good; and exp itself is not too late"),
		codecs.Disclaims(codecs.Rotation, "one key"),
		codecs.Disclaims(codecs.KeySeparation, "the secret is the HMAC key itself and serves whatever else it is used for"),
		codecs.Disclaims(codecs.KeyCommitting, "HMAC pads keys with zeros and hashes those over 64 bytes, so a key has twins"),
		codecs.Disclaims(codecs.SenderAuthenticated, "one symmetric key: who can verify can sign"),
		codecs.Disclaims(codecs.SingleUse, "stateless"),
	)
}

// inspect takes a canonically spelt token apart.
func inspect(token []byte) ([]lab.Field, error) {
	rest, ok := bytes.CutPrefix(token, []byte(prefix))
	if !ok {
		return nil, fmt.Errorf("sealab: the token does not begin with %q", prefix)
	}
	body, tag, ok := bytes.Cut(rest, []byte(separator))
	if !ok {
		return nil, fmt.Errorf("sealab: the token has no second %q", separator)
	}
	claims, ok := base64url.AppendDecode(nil, body)
	mac, canonical := base64url.AppendDecode(nil, tag)
	if !ok || !canonical {
		return nil, fmt.Errorf("sealab: a segment of the token is not canonical base64url")
	}
	return []lab.Field{
		{Name: lab.WirePrefix, Wire: []byte(prefix), Bytes: []byte(prefix), Readable: true},
		{Name: lab.WireBody, Wire: body, Bytes: claims, Readable: true},
		{Name: lab.WireSep, Wire: []byte(separator), Bytes: []byte(separator), Readable: true},
		{Name: lab.WireTag, Wire: tag, Bytes: mac},
	}, nil
}
