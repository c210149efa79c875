package reference

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"sealab/codecs/catalog"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
)

// JSON compares the JSON readers of the designs with encoding/json.
func JSON(p *program.Program) error {
	document := p.Rest()
	v, err := catalog.ParseJSON(document)
	if valid := json.Valid(document); valid != (err == nil) {
		return harness.Fail("", "rawjson and encoding/json differ on validity", "%v, valid %v: %q", err, valid, document)
	}
	if err == nil && !bytes.Equal(v.Raw, bytes.Trim(document, " \t\r\n")) {
		return harness.Fail("", "rawjson changes a document", "%q to %q", document, v.Raw)
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

// requireRead returns an error unless v equals the value that encoding/json reads from a
// document.
func requireRead(v *catalog.JSON, document []byte) error {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	var want any
	if err := d.Decode(&want); err != nil {
		return harness.Fail("", "rawjson accepts a document that encoding/json refuses", "%v: %q", err, document)
	}
	if !sameValue(v, want) {
		return harness.Fail("", "rawjson and encoding/json differ on values", "%q", document)
	}
	return nil
}

// sameValue reports whether a value equals that of encoding/json. It skips strings with lone
// surrogates, which encoding/json cannot represent.
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

// sameMembers compares the last member of each name. It skips objects whose names are not
// UTF-8.
func sameMembers(v *catalog.JSON, want map[string]any) bool {
	names := map[string]bool{}
	for _, m := range v.Members {
		if !utf8.Valid(m.Name) {
			return true
		}
		names[string(m.Name)] = true
	}
	for name := range names {
		if of, ok := want[name]; !ok || !sameValue(v.Lookup(name), of) {
			return false
		}
	}
	return len(names) == len(want)
}

// requireStable returns an error unless the compact form of a document is printable ASCII and
// equals its own compact form.
func requireStable(document []byte, compact func(dst, doc []byte) ([]byte, error)) error {
	once, err := compact(nil, document)
	if err != nil {
		return nil
	}
	for _, c := range once {
		if c < ' ' || c > '~' {
			return harness.Fail("", "compactjson is not printable ASCII", "%q for %q", once, document)
		}
	}
	if twice, err := compact(nil, once); err != nil || !bytes.Equal(once, twice) {
		return harness.Fail("", "compactjson of compactjson differs", "%q, then %q (%v), for %q", once, twice, err, document)
	}
	return nil
}

// Documents are JSON texts that readers treat differently.
var Documents = []string{
	`{}`, `[]`, `null`, `true`, `"text"`, `0`, `-0`, `-0.0`, `1.0`, `1e16`, `1e-5`, `5e-324`, `1e400`, `12345678901234567890`,
	`{"b":1,"a":2,"b":3}`, `["\u0000\ud800","\ud83d\ude00","\u2028/\/"]`, "\"\x7f\xed\xa0\x80\"", ` { "a" : [ 1 , { } ] } `,
	`[NaN,Infinity,-Infinity]`, "\ufeff{}", `{"a":1,}`, `[1 2]`, `"\x"`, `"\u12"`, `01`, `1.`, `.5`, `+1`, `"\`,
	`{"v":1,"iat":1795132800.25,"exp":1795133400.25,"m":"tools/call","t":"deploy","a":"RBNvo1WzZ4oRRq0W9-hkng","s":"state","aud":"srv"}`,
}
