package inputs

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review/jsondoc"
)

// TestFreeText finds texts in values and defaults, and leaves out those that a schema lists.
func TestFreeText(t *testing.T) {
	for _, c := range []struct {
		value, schema, want string
		free                bool
	}{
		{`"a"`, `{"type":"string"}`, "a", true},
		{"", `{"type":"string","default":"b"}`, "b", true},
		{"", `{"type":"string"}`, "", true},
		{`"a"`, `{"type":"string","enum":["a"]}`, "a", false},
		{"5", `{"type":"integer"}`, "", false},
	} {
		var value json.RawMessage
		if c.value != "" {
			value = json.RawMessage(c.value)
		}
		got, free := FreeText(value, json.RawMessage(c.schema))
		require.Equal(t, c.want, got, c.schema)
		require.Equal(t, c.free, free, c.schema)
	}
}

// TestAwkwardValues puts values in place of arguments of their type, unless they are intended.
func TestAwkwardValues(t *testing.T) {
	for _, x := range AwkwardValues {
		given, schema := map[string]string{"number": "1.5", "integer": "1", "date": `"2026-02-03"`, "string": `"a"`}[x.Kind], x.Kind
		if x.Kind == "date" {
			schema = "string"
		}
		s := jsondoc.ParseSchema(json.RawMessage(`{"type":"` + schema + `"}`))
		require.True(t, x.Replaces("env", json.RawMessage(given), s), x.Name)
		require.False(t, x.Replaces("env", json.RawMessage(given), jsondoc.ParseSchema(json.RawMessage(`{"type":"boolean"}`))), x.Name)
		require.Equal(t, x.expanded == "", x.Replaces("template", json.RawMessage(given), s), x.Name)
		text, ok := x.Text()
		require.Equal(t, x.Kind == "string" && x.Name != halfPair, ok, x.Name)
		require.Equal(t, ok, text != "", x.Name)
	}
}
