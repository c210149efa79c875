package claims

import (
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/keyring"
	"sealab/internal/lab"
)

// Over returns the catalog's row for claims over a codec's design. It is called
// as the codec with "-claims", and states the codec's guarantees with those of
// the claims.
//
// So that neither design takes the other's tokens, the codec gets secrets of
// its own:
//
//	secret' = HKDF-SHA256(secret, "sealab/claims/v1", 32)
func Over(d codecs.Design) codecs.Design {
	of := lab.HooksOf(d)
	return codecs.Design{
		Name:    d.Name + "-claims",
		Doc:     "claims (expiry, request, audience, principal) over " + d.Name,
		Spec:    "claims of the Python MCP SDK 57394b0; " + d.Spec,
		Over:    d.Name,
		Prefix:  d.Prefix,
		MaxKeys: d.MaxKeys,
		KeySize: d.KeySize,
		Options: d.Options,
		Hooks: &lab.Hooks{
			Verifying: verifying(of), Primitive: of.Primitive, Inspect: of.Inspect, Other: of.Other, Facts: of.Facts,
			Unjudged: of.Unjudged, Stretched: of.Stretched,
			Allocates: of.Allocates, AllocatesInGo: of.AllocatesInGo,
		},
		Guarantees: func(options map[string]string) []codecs.Guarantee { return guarantees(d, options) },
		NewScheme: func(c codecs.Config) (codecs.Scheme, error) {
			codec, err := newCodec(d, c)
			if err != nil {
				return nil, err
			}
			return New(codec, c.TTLOr(DefaultTTL))
		},
	}
}

const claimsLabel = "sealab/claims/v1"

// verifying returns lab.Hooks.Verifying of claims over a codec.
func verifying(codec lab.Hooks) func([][]byte) ([][]byte, error) {
	if codec.Verifying == nil {
		return nil
	}
	return func(secrets [][]byte) ([][]byte, error) { return codec.Verifying(derive(secrets)) }
}

// newCodec returns the codec under the derived secrets. It opens the codec under
// the given ones first, because a key derived from a weak secret looks strong.
func newCodec(d codecs.Design, c codecs.Config) (codecs.Codec, error) {
	if _, err := d.OpenCodec(c); err != nil {
		return nil, err
	}
	c.Secrets = derive(c.Secrets)
	return d.OpenCodec(c)
}

// derive returns the secrets of the codec.
func derive(secrets [][]byte) [][]byte {
	derived := make([][]byte, len(secrets))
	for i, secret := range secrets {
		derived[i] = keyring.Derive(secret, claimsLabel, keyring.KeySize)
	}
	return derived
}

// guarantees returns the guarantees of claims over a codec.
func guarantees(d codecs.Design, options map[string]string) []codecs.Guarantee {
	inherited := slices.DeleteFunc(d.GuaranteesFor(options), func(g codecs.Guarantee) bool {
		return g.Property == codecs.ByteExact
	})
	return slices.Concat(inherited, Guarantees(), linkability(d, options))
}

// Guarantees returns the guarantees that claims have over any codec with integrity.
func Guarantees() []codecs.Guarantee {
	return slices.Concat(
		codecs.Holds(codecs.BindsMethod, codecs.BindsTarget, codecs.BindsPrincipal, codecs.BindsAudience),
		codecs.HoldsBecause(codecs.BindsArguments, "by a digest of the arguments as Python reads them; those of resources/read are not looked at"),
		codecs.HoldsBecause(codecs.Expiry, "refused from expiry on, and when issued more than 60 seconds in the future"),
		codecs.HoldsBecause(codecs.ByteExact, "for WTF-8 states; others are not minted"),
		codecs.Disclaims(codecs.Unambiguous, "arguments that are absent, null, {}, [], \"\", 0 or false share one digest"),
		codecs.Disclaims(codecs.SingleUse, "stateless"),
	)
}

// linkability says whether the salted principal can be tested by a reader.
func linkability(d codecs.Design, options map[string]string) []codecs.Guarantee {
	if _, answered := d.Guarantee(codecs.Unlinkable, options); answered {
		return nil // the codec disclaims it
	}
	// A deterministic AEAD disclaims confidentiality for equal payloads, and salts differ.
	if g, _ := d.Guarantee(codecs.Confidentiality, options); g.Holds || lab.HooksOf(d).Bare != nil {
		return codecs.HoldsBecause(codecs.Unlinkable, "the principal is a salted digest inside what is encrypted")
	}
	return codecs.Disclaims(codecs.Unlinkable, "the claims are readable: who guesses a principal can test it against its salted digest")
}
