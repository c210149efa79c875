package targets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"sealab/codecs/catalog"
	"sealab/fuzz/program"
)

var jsonTarget = Target{
	Name: "json", Layer: LayerReaders,
	Doc:   "the JSON readers on any document: they take what the standard library takes, lose nothing, and the compact form is its own compact form",
	Check: readJSON,
	Seeds: jsonSeeds,
}

func readJSON(p *program.Program) error {
	document := p.Rest()
	v, err := catalog.ParseJSON(document)
	if valid := json.Valid(document); valid != (err == nil) {
		return fmt.Errorf("rawjson: %q: %v, and to the standard library it is valid: %v", document, err, valid)
	}
	if err == nil && !bytes.Equal(v.Raw, bytes.Trim(document, " \t\r\n")) {
		return fmt.Errorf("rawjson: %q was read as %q", document, v.Raw)
	}
	if err == nil && utf8.Valid(document) {
		if err := requireRead(&v, document); err != nil {
			return err
		}
	}
	for _, compact := range []func(dst, doc []byte) ([]byte, error){catalog.AppendJSON, catalog.AppendSortedJSON} {
		if err := requireStable(document, compact); err != nil {
			return err
		}
	}
	return nil
}

// requireRead returns an error unless v is what the standard library reads in a
// document.
func requireRead(v *catalog.JSON, document []byte) error {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	var want any
	if err := d.Decode(&want); err != nil {
		return fmt.Errorf("rawjson: %q is read, and not by the standard library: %w", document, err)
	}
	if !sameValue(v, want) {
		return fmt.Errorf("rawjson: %q has other values to the standard library", document)
	}
	return nil
}

// sameValue compares a value with that of encoding/json, which cannot hold lone
// surrogates: texts that have some are not compared.
func sameValue(v *catalog.JSON, want any) bool {
	switch want := want.(type) {
	case nil:
		return v.Kind == catalog.JSONNull
	case bool:
		return v.Kind == catalog.JSONTrue && want || v.Kind == catalog.JSONFalse && !want
	case json.Number:
		return v.Kind == catalog.JSONNumber && string(v.Text) == want.String()
	case string:
		return v.Kind == catalog.JSONString && (string(v.Text) == want || !utf8.Valid(v.Text))
	case []any:
		return v.Kind == catalog.JSONArray && slices.EqualFunc(v.Items, want, func(v catalog.JSON, want any) bool { return sameValue(&v, want) })
	case map[string]any:
		return v.Kind == catalog.JSONObject && sameMembers(v, want)
	}
	return false
}

// sameMembers compares the last member of each name.
func sameMembers(v *catalog.JSON, want map[string]any) bool {
	names := map[string]bool{}
	for _, m := range v.Members {
		if !utf8.Valid(m.Name) {
			return true
		}
		names[string(m.Name)] = true
	}
	for name := range names {
		of, ok := want[name]
		if !ok || !sameValue(v.Lookup(name), of) {
			return false
		}
	}
	return len(names) == len(want)
}

// requireStable returns an error unless the compact form of a document is ASCII
// and has itself as its compact form.
func requireStable(document []byte, compact func(dst, doc []byte) ([]byte, error)) error {
	once, err := compact(nil, document)
	if err != nil {
		return nil
	}
	for _, c := range once {
		if c < ' ' || c > '~' {
			return fmt.Errorf("compactjson: the form %q of %q is not printable ASCII", once, document)
		}
	}
	twice, err := compact(nil, once)
	if err != nil || !bytes.Equal(once, twice) {
		return fmt.Errorf("compactjson: %q becomes %q, and that %q (%v)", document, once, twice, err)
	}
	return nil
}

// documents are places where readers of JSON differ.
var documents = []string{
	`{}`, `[]`, `null`, `true`, `"text"`, `0`, `-0`, `-0.0`, `1.0`, `1e16`, `1e-5`, `5e-324`, `1e400`, `12345678901234567890`,
	`{"b":1,"a":2,"b":3}`, `["\u0000\ud800","\ud83d\ude00","\u2028/\/"]`, "\"\x7f\xed\xa0\x80\"", ` { "a" : [ 1 , { } ] } `,
	`[NaN,Infinity,-Infinity]`, "\ufeff{}", `{"a":1,}`, `[1 2]`, `"\x"`, `"\u12"`, `01`, `1.`, `.5`, `+1`, `"\`,
	`{"v":1,"iat":1795132800.25,"exp":1795133400.25,"m":"tools/call","t":"deploy","a":"RBNvo1WzZ4oRRq0W9-hkng","s":"state","aud":"srv"}`,
}

func jsonSeeds() ([][]byte, error) {
	var seeds [][]byte
	for _, d := range documents {
		seeds = append(seeds, []byte(d))
	}
	files, err := committed()
	for _, f := range files {
		seeds = append(seeds, f.claims()...)
	}
	return seeds, err
}
