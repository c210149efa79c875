package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/schema"
)

func TestValidate(t *testing.T) {
	s := schema.New("urn:test", []byte(`{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":{"type":"integer"}}}`))
	require.NoError(t, s.Validate([]byte(`{"a":1}`)))
	for _, bad := range []string{`{}`, `{"a":"1"}`, `{"a":1,"b":2}`, `[]`, `{"a":1} x`, ``} {
		require.Error(t, s.Validate([]byte(bad)), bad)
	}
}

func TestDamagedDocuments(t *testing.T) {
	s := schema.New("urn:test", []byte(`{"type":"object"}`))
	for text, want := range map[string]string{"": "the file is empty", "  \n": "the file is empty", `{"a":`: "cut off"} {
		require.ErrorContains(t, s.Validate([]byte(text)), want, "%q", text)
	}
}

func TestBrokenSchemas(t *testing.T) {
	for _, broken := range []string{``, `{"type":"nonsense"}`} {
		require.Error(t, schema.New("urn:broken", []byte(broken)).Validate([]byte(`{}`)), broken)
	}
}

func read(t *testing.T, text string) any {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal([]byte(text), &v), text)
	return v
}

func TestForeignFaults(t *testing.T) {
	for text, want := range map[string]string{
		`5`:                 "want boolean or object",
		`{"type":"objekt"}`: "/type",
		`{"type":"object","properties":{"a":{"type":"integr"}}}`: "/properties/a/type",
		`{"properties":[]}`:    "/properties",
		`{"required":"a"}`:     "/required",
		`{"required":true}`:    "/required",
		`{"anyOf":{}}`:         "/anyOf",
		`{"$ref":"#/$defs/x"}`: "#/$defs/x",
		`{"$ref":"#/$defs/a","$defs":{"a":{"type":"x"}}}`:                       "/type",
		`{"$schema":"http://json-schema.org/draft-07/schema#","minLength":"5"}`: "/minLength",
	} {
		_, err := schema.Foreign(read(t, text), false)
		require.ErrorContains(t, err, want, text)
	}
}

// TestForeignSound compiles schemas that are valid or cannot be judged, and validates documents that each
// allows.
func TestForeignSound(t *testing.T) {
	for text, document := range map[string]string{
		`true`: `1`,
		`{"pattern":"(?<=a)\\p{Lu}(?!b)[","type":"string"}`:                                                   `"x"`,
		`{"$ref":"https://example.com/x.json#/a"}`:                                                            `1`,
		`{"properties":{"a":{"$ref":"file:///etc/passwd"}}}`:                                                  `{"a":1}`,
		`{"$schema":"https://example.com/own","type":"strange"}`:                                              `1`,
		`{"$schema":"http://json-schema.org/draft-03/schema#","required":true}`:                               `1`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","format":"date-time","$comment":"lenient"}`:     `"today"`,
		`{"items":[{"type":"string"}],"additionalItems":false}`:                                               `["a"]`,
		`{"minimum":1,"exclusiveMinimum":true}`:                                                               `2`,
		`{"id":"#a","definitions":{"b":{"type":"string"}},"$ref":"#/definitions/b"}`:                          `"b"`,
		`{"type":"string","nullable":false,"x-order":3,"discriminator":{}}`:                                   `"a"`,
		`{"$defs":{"a":{"$id":"https://a.example/","$ref":"#/$defs/b","$defs":{"b":{}}}},"$ref":"#/$defs/a"}`: `1`,
		`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`:     `{"next":{"next":{}}}`,
		`{"$ref":"#none"}`: `1`,
	} {
		validate, err := schema.Foreign(read(t, text), false)
		require.NoError(t, err, text)
		require.NoError(t, validate(read(t, document)), text)
	}
}

func TestForeignDocuments(t *testing.T) {
	validate, err := schema.Foreign(read(t, `{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},{"enum":["x"]}]}},"required":["a"]}`), false)
	require.NoError(t, err)
	require.NoError(t, validate(read(t, `{"a":1.0}`)))
	for document, want := range map[string]string{`{}`: "missing property 'a'", `{"a":"y"}`: "/a", `1`: "want object"} {
		require.ErrorContains(t, validate(read(t, document)), want, document)
	}
}
