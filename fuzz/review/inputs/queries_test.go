package inputs

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

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
