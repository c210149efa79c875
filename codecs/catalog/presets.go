package catalog

import (
	"sealab/codecs"
	"sealab/internal/lab"
)

// A preset is a design with options other than its defaults, under a name of its
// own. Workers and vectors know presets by their names.
type preset struct {
	name, of, doc string
	options       map[string]string

	prefix, format string // if they differ from the design's
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
		hooks.FewVectors = true // the vectors of the design itself hold the cases of claims
		d.Hooks = &hooks
	}
	return d
}
