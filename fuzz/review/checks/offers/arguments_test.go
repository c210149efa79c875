package offers

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWrongLists makes wrong lists for the bounds that a schema may have, including bounds that no
// list satisfies.
func TestWrongLists(t *testing.T) {
	for schema, want := range map[string][]string{
		`{"type":"array","maxItems":2}`:                             {`["a","a","a"]`},
		`{"type":"array","maxItems":0}`:                             {`["a"]`},
		`{"type":"array","uniqueItems":true}`:                       {`["a","a"]`},
		`{"type":"array","uniqueItems":true,"minItems":3}`:          {`["a","a","a"]`},
		`{"type":"array","uniqueItems":true,"maxItems":1}`:          {`["a","a"]`},
		`{"type":"array","maxItems":-1}`:                            nil,
		`{"type":"array","maxItems":1000000}`:                       nil,
		`{"type":"array","uniqueItems":true,"minItems":1000000000}`: nil,
		`{"type":"array","items":{"type":"string"}}`:                {`[[5],"b"]`},
		`{"type":"array","items":{"type":"string","enum":[]}}`:      {`[[5],"b"]`},
	} {
		var got []string
		for _, x := range wrongValues(json.RawMessage(schema), json.RawMessage(`["a","b"]`), "list", 0) {
			if x.name != "another type for list" {
				got = append(got, string(x.value))
			}
		}
		require.Equal(t, want, got, schema)
	}
}

// TestWrongTexts makes texts that exceed a bound, and none for a bound that no text satisfies.
func TestWrongTexts(t *testing.T) {
	for schema, want := range map[string]int{`{"type":"string","maxLength":3}`: 2, `{"type":"string","maxLength":-5}`: 1, `{"type":"string","maxLength":5000}`: 1} {
		require.Len(t, wrongValues(json.RawMessage(schema), json.RawMessage(`"a"`), "text", 0), want, schema)
	}
}
