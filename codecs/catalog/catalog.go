// Package catalog lists the designs. Instruments range over the list and never
// name a design. Besides this package, only the boundary imports designs: its
// default codec and claims.
package catalog

import (
	"maps"
	"slices"

	"sealab/codecs"
	"sealab/codecs/aegis"
	"sealab/codecs/aesgcm"
	"sealab/codecs/aessiv"
	"sealab/codecs/ascon"
	"sealab/codecs/branca"
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
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/rawjson"
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
	"sealab/internal/lab"
)

// rows lists the designs that have a package. To add a design, add its package
// and a row here.
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
	fernet.Design, branca.Design, signedtext.Itsdangerous, signedtext.Django, iron.Design, rails.Design,
	rmcp.RS1, rmcp.RS2,
	towermcp.V1, towermcp.V2,
	signedjson.PHP, signedjson.Run,
	signedjson.Swift, laravel.Encrypter, laravel.MCP, plugcrypto.Design, envoy.Design,
}

// All returns every design in the order of the catalog: the rows, and then a
// scheme for each codec that adds claims to it.
func All() []codecs.Design { return withClaims(rows, unchanged) }

// Variants returns every design, each followed by its presets. A preset is the
// design with other defaults; its options can still be set.
func Variants() []codecs.Design { return VariantsWith(unchanged) }

// VariantsWith returns the designs as Variants does, after applying change to
// each row and to each scheme over a codec, which uses the changed codec. Fuzz
// targets inject bugs with it.
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

// Formats returns one design for each wire format: every design, and the
// presets whose tokens have another format. These designs have vectors.
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

// withClaims returns the changed rows, followed by claims over each codec.
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

// Find returns the design or preset with the given name.
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

// A Preset describes a variant of a design.
type Preset struct {
	Name, Of string
	Options  map[string]string
}

// Presets returns the presets in the order of the catalog.
func Presets() []Preset {
	all := make([]Preset, 0, len(presets))
	for _, p := range presets {
		all = append(all, Preset{p.name, p.of, maps.Clone(p.options)})
	}
	return all
}

// A preset is a design with other defaults under a name of its own. Workers and
// vectors refer to presets by name.
type preset struct {
	name, of, doc string
	options       map[string]string

	prefix, format string // if they differ from those of the design
}

var presets = []preset{
	{name: "mcp-ts-bound", of: "mcp-ts", doc: "TypeScript SDK with a bind callback for the whole request", options: map[string]string{"bind": "request"}},
	{name: "mcp-ts-faithful", of: "mcp-ts", doc: "TypeScript SDK, answering exactly as it does", options: map[string]string{"reading": "sdk"}},
	{name: "mcp-py-faithful", of: "mcp-py", doc: "Python SDK, answering exactly as it does", options: map[string]string{"reading": "sdk"}},
	{name: "mcp-d-encrypted", of: "mcp-d", doc: "D SDK, AES-256-GCM", options: map[string]string{"mode": "encrypted"}, prefix: "v1e.", format: "mcp-d-encrypted"},
	{name: "mcp-d-faithful", of: "mcp-d", doc: "D SDK, signed, answering exactly as it does", options: map[string]string{"reading": "sdk"}},
	{name: "mcp-d-encrypted-faithful", of: "mcp-d", doc: "D SDK, AES-256-GCM, answering exactly as it does",
		options: map[string]string{"mode": "encrypted", "reading": "sdk"}, prefix: "v1e.", format: "mcp-d-encrypted"},
	{name: "rmcp-rs1-faithful", of: "rmcp-rs1", doc: "Rust SDK, one key, answering exactly as it does", options: map[string]string{"reading": "sdk"}},
	{name: "rmcp-rs2-faithful", of: "rmcp-rs2", doc: "Rust SDK, key ring, answering exactly as it does", options: map[string]string{"reading": "sdk"}},
	{name: "tower-mcp-v1-faithful", of: "tower-mcp-v1", doc: "Rust crate tower-mcp 0.22, answering exactly as it does", options: map[string]string{"reading": "sdk", "limit": "64KiB"}},
	{name: "tower-mcp-v2-faithful", of: "tower-mcp-v2", doc: "Rust crate tower-mcp 0.25, answering exactly as it does", options: map[string]string{"reading": "sdk", "limit": "64KiB"}},
	{name: "mcp-php-faithful", of: "mcp-php", doc: "PHP SDK, answering as its class reads", options: map[string]string{"reading": "sdk"}},
	{name: "run-continuation-faithful", of: "run-continuation", doc: "npm run, answering exactly as it does", options: map[string]string{"reading": "sdk"}},
	{name: "mcp-rb-faithful", of: "mcp-rb", doc: "Ruby SDK, answering exactly as it does", options: map[string]string{"reading": "sdk"}},
}

// apply returns d with the options of the preset as defaults.
func (p preset) apply(d codecs.Design) codecs.Design {
	d = lab.With(d, p.options)
	d.Name, d.Doc = p.name, p.doc
	if p.prefix != "" {
		d.Prefix, d.Format = p.prefix, p.format
		hooks := lab.HooksOf(d)
		hooks.FewVectors = true // the vectors of the design itself include the cases of claims
		d.Hooks = &hooks
	}
	return d
}

// The primitives of the designs, only for fuzz targets.

// JSON is a JSON value as the formats of SDKs parse it.
type JSON = rawjson.Value

// The kinds of JSON values.
const (
	JSONNull   = rawjson.Null
	JSONFalse  = rawjson.False
	JSONTrue   = rawjson.True
	JSONNumber = rawjson.Number
	JSONString = rawjson.String
	JSONArray  = rawjson.Array
	JSONObject = rawjson.Object
)

// ParseJSON parses one JSON text.
func ParseJSON(text []byte) (JSON, error) { return rawjson.Parse(text) }

// AppendJSON appends a JSON text as Python's json.dumps prints it with
// separators=(",", ":").
func AppendJSON(dst, text []byte) ([]byte, error) { return compactjson.Append(dst, text) }

// AppendSortedJSON appends a JSON text as AppendJSON does, with sort_keys=True.
func AppendSortedJSON(dst, text []byte) ([]byte, error) { return compactjson.AppendSorted(dst, text) }

// AppendBase64URL appends raw as base64url without padding.
func AppendBase64URL(dst, raw []byte) []byte { return base64url.AppendEncode(dst, raw) }

// AppendFromBase64URL appends the decoded bytes of a canonical base64url text.
func AppendFromBase64URL(dst, text []byte) ([]byte, bool) { return base64url.AppendDecode(dst, text) }
