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

// TestTakesQuery tells arguments that are a query from values that a query may contain.
func TestTakesQuery(t *testing.T) {
	for _, c := range []struct {
		name, about, given, schema string
		want                       bool
	}{
		{"sql", "", "", `{"type":"string"}`, true},
		{"sql_query", "", "", `{"type":"string"}`, true},
		{"query", "Runs a SELECT over the tables", "", `{"type":"string"}`, true},
		{"statement", "", "", `{"type":"string","description":"an SQL statement"}`, true},
		{"text", "", `"select a from b"`, `{"type":"string"}`, true},
		{"text", "", "", `{"type":"string","examples":["SELECT 1"]}`, true},
		{"name", "Runs a SELECT over the tables", "", `{"type":"string"}`, false},
		{"query", "Searches the customers in the SQL database", "", `{"type":"string"}`, false},
		{"filter", "", `"city = Paris"`, `{"type":"string"}`, false},
		{"text", "", `"select a place"`, `{"type":"string"}`, false},
	} {
		require.Equal(t, c.want, TakesQuery(c.name, c.about, json.RawMessage(c.given), json.RawMessage(c.schema)), "%+v", c)
	}
}
