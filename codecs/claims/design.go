package claims

import (
	"slices"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/internal/lab"
)

// Over returns the catalog row for claims over a codec. Its name is that of the
// codec with "-claims". It has the guarantees of the codec and of the claims.
//
// The codec gets derived secrets, so that neither design accepts the other's
// tokens:
//
//	secret' = HKDF-SHA256(secret, "sealab/claims/v2", 32)
func Over(d codecs.Design) codecs.Design {
	of := lab.HooksOf(d)
	return codecs.Design{
		Name:    d.Name + "-claims",
		Doc:     "claims (expiry, request, audience, principal) over " + d.Name,
		Spec:    "sealab claims v2; " + d.Spec,
		Over:    d.Name,
		Prefix:  d.Prefix,
		MaxKeys: d.MaxKeys,
		KeySize: d.KeySize,
		Options: d.Options,
		Hooks: &lab.Hooks{
			Verifying: verifying(of), Primitive: of.Primitive, Inspect: inspect(of.Inspect), Other: of.Other, Facts: of.Facts,
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

// inspect returns lab.Hooks.Inspect for claims over a codec: the fields of the
// codec, and the expiry if the claims are readable.
func inspect(codec func(token []byte) ([]lab.Field, error)) func(token []byte) ([]lab.Field, error) {
	return func(token []byte) ([]lab.Field, error) {
		fields, err := codec(token)
		for i, f := range fields {
			if f.Name == lab.WireBody && f.Readable && len(f.Bytes) >= headSize && f.Bytes[0] == version {
				fields[i].Time = time.Unix(0, instant(f.Bytes[atExpires:])).UTC()
			}
		}
		return fields, err
	}
}

// verifying returns lab.Hooks.Verifying for claims over a codec.
func verifying(codec lab.Hooks) func([][]byte) ([][]byte, error) {
	if codec.Verifying == nil {
		return nil
	}
	return func(secrets [][]byte) ([][]byte, error) { return codec.Verifying(derive(secrets)) }
}

// newCodec opens the codec under derived secrets. It first opens the codec
// under the given ones, because a key derived from a weak secret looks strong.
func newCodec(d codecs.Design, c codecs.Config) (codecs.Codec, error) {
	if _, err := d.OpenCodec(c); err != nil {
		return nil, err
	}
	c.Secrets = derive(c.Secrets)
	return d.OpenCodec(c)
}

// derive returns the derived secrets of the codec.
func derive(secrets [][]byte) [][]byte {
	derived := make([][]byte, len(secrets))
	for i, secret := range secrets {
		derived[i] = keyring.Derive(secret, label, keyring.KeySize)
	}
	return derived
}

// guarantees returns the guarantees of claims over a codec.
func guarantees(d codecs.Design, options map[string]string) []codecs.Guarantee {
	of := salted(d, options)
	return slices.Concat(
		of, linkability(of),
		codecs.Holds(codecs.BindsMethod, codecs.BindsTarget, codecs.BindsPrincipal, codecs.BindsAudience),
		codecs.HoldsBecause(codecs.BindsArguments, "by a digest of their JSON, with numbers as written"),
		codecs.HoldsBecause(codecs.Unambiguous, "each field is digested after its length, and arguments as normalized JSON; the last of duplicate members counts"),
		codecs.HoldsBecause(codecs.Expiry, "refused from expiry on, and when issued more than 60 seconds in the future"),
		guarantee.Stateless,
	)
}

// salted returns the guarantees of a codec for payloads with a salt. A
// deterministic AEAD disclaims confidentiality only because equal payloads give
// equal tokens, which the salt prevents.
func salted(d codecs.Design, options map[string]string) []codecs.Guarantee {
	all := d.GuaranteesFor(options)
	for i, g := range all {
		if g.Property == codecs.Confidentiality && !g.Holds && lab.HooksOf(d).Bare != nil {
			all[i] = codecs.HoldsBecause(codecs.Confidentiality, "the salt makes equal payloads different")[0]
		}
	}
	return all
}

// linkability tells whether a reader can test the salted digest. It is empty if
// the codec disclaims unlinkability.
func linkability(codec []codecs.Guarantee) []codecs.Guarantee {
	encrypts := false
	for _, g := range codec {
		if g.Property == codecs.Unlinkable {
			return nil
		}
		encrypts = encrypts || g.Property == codecs.Confidentiality && g.Holds
	}
	if encrypts {
		return codecs.HoldsBecause(codecs.Unlinkable, "the principal is in a salted digest, which is encrypted")
	}
	return codecs.Disclaims(codecs.Unlinkable, "the claims are readable: a guessed request and principal can be checked against the salted digest")
}
