// Package catalog is the list of designs. It is the only package that imports
// them; every instrument ranges over it and so cannot name one.
package catalog

import (
	"slices"

	"sealab/codecs"
	"sealab/codecs/aegis"
	"sealab/codecs/aesgcm"
	"sealab/codecs/aessiv"
	"sealab/codecs/ascon"
	"sealab/codecs/cbchmac"
	"sealab/codecs/chachasiv"
	"sealab/codecs/claims"
	"sealab/codecs/dndk"
	"sealab/codecs/envoy"
	"sealab/codecs/fernet"
	"sealab/codecs/gcmctx"
	"sealab/codecs/gcmsiv"
	"sealab/codecs/hmacsha256"
	"sealab/codecs/hpkepsk"
	"sealab/codecs/hpkesession"
	"sealab/codecs/iron"
	"sealab/codecs/jwe"
	"sealab/codecs/laravel"
	"sealab/codecs/mcpd"
	"sealab/codecs/mcppy"
	"sealab/codecs/mcprb"
	"sealab/codecs/mcpts"
	"sealab/codecs/paseto"
	"sealab/codecs/plugcrypto"
	"sealab/codecs/rails"
	"sealab/codecs/rmcp"
	"sealab/codecs/signed"
	"sealab/codecs/signedjson"
	"sealab/codecs/signedtext"
	"sealab/codecs/towermcp"
	"sealab/codecs/xaes"
	"sealab/codecs/xchacha"
)

// rows are the designs that have a folder. To add a design, add its folder and
// its row.
var rows = []codecs.Design{
	hmacsha256.Design,
	aesgcm.Design,
	xchacha.Design,
	xaes.Design, gcmctx.Design, gcmsiv.Design, cbchmac.Design, chachasiv.Design,
	aessiv.Design, aegis.Design, ascon.Design, dndk.Design,
	signed.Ed25519, signed.MLDSA44,
	hpkepsk.Design,
	hpkesession.Design, hpkesession.XWing,
	mcpts.Design,
	mcppy.Design,
	mcpd.Design,
	mcprb.Design,
	jwe.GCM, jwe.CBC, paseto.Design,
	fernet.Design, signedtext.Itsdangerous, signedtext.Django, iron.Design, rails.Design,
	rmcp.RS1, rmcp.RS2,
	towermcp.V1, towermcp.V2,
	signedjson.PHP, signedjson.Run,
	signedjson.Swift, laravel.Encrypter, laravel.MCP, plugcrypto.Design, envoy.Design,
}

// All returns every design, in the catalog's order: the rows, and after them a
// scheme for each codec among them, which puts claims over it.
func All() []codecs.Design { return withClaims(rows, unchanged) }

// Variants returns every design with its presets behind it, for instruments that
// cover both. A preset is the design with other defaults: its options can still
// be set.
func Variants() []codecs.Design { return VariantsWith(unchanged) }

// VariantsWith is Variants with a change to each row and to each scheme over a
// codec, which stands on the changed codec. Fuzz targets inject bugs with it.
func VariantsWith(change func(codecs.Design) codecs.Design) []codecs.Design {
	var all []codecs.Design
	for _, d := range rows {
		all = append(all, d)
		for _, p := range presets {
			if p.of == d.Name {
				all = append(all, p.apply(d))
			}
		}
	}
	return withClaims(all, change)
}

// Formats returns one design for each wire format: every design, and the presets
// whose tokens are of another format. They are the designs that have vectors.
func Formats() []codecs.Design {
	all := All()
	for _, d := range Variants() {
		same := func(other codecs.Design) bool { return other.Name == d.Name || other.SharesFormat(d) }
		if !slices.ContainsFunc(all, same) {
			all = append(all, d)
		}
	}
	return all
}

func unchanged(d codecs.Design) codecs.Design { return d }

// withClaims returns the changed rows, and behind them claims over each codec.
func withClaims(rows []codecs.Design, change func(codecs.Design) codecs.Design) []codecs.Design {
	all := make([]codecs.Design, 0, 2*len(rows))
	for _, d := range rows {
		all = append(all, change(d))
	}
	for _, d := range all {
		if !d.IsScheme() {
			all = append(all, change(claims.Over(d)))
		}
	}
	return all
}

// Find returns the design or the preset called name.
func Find(name string) (codecs.Design, error) {
	var known []string
	for _, d := range Variants() {
		if d.Name == name {
			return d, nil
		}
		known = append(known, d.Name)
	}
	return codecs.Design{}, Unknown("design", name, known)
}
