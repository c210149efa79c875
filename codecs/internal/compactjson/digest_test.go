package compactjson

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAppendDigest(t *testing.T) {
	const empty = "RBNvo1WzZ4oRRq0W9-hkng"
	for _, falsy := range []string{"null", " { } ", "[]", `""`, "0", "-0", "0.0", "-0e5", "1e-400", "false"} {
		got, err := AppendDigest(nil, "tools/call", json.RawMessage(falsy))
		require.NoError(t, err, falsy)
		require.Equal(t, empty, string(got), falsy)
	}
	for _, truthy := range []string{"true", "1", "[0]", `"0"`, `{"":0}`, "1e-300", "NaN"} {
		got, err := AppendDigest(nil, "tools/call", json.RawMessage(truthy))
		require.NoError(t, err, truthy)
		require.NotEqual(t, empty, string(got), truthy)
		got, err = AppendDigest(nil, "resources/read", json.RawMessage(truthy))
		require.NoError(t, err, truthy)
		require.Equal(t, empty, string(got), truthy)
	}
	_, err := AppendDigest(nil, "tools/call", json.RawMessage(`{"a"}`))
	require.ErrorContains(t, err, "not JSON")
}

func TestAppendExact(t *testing.T) {
	for doc, want := range map[string]string{
		` { "b" : [ 1 , 2 ] , "a" : null } `:  `{"a":null,"b":[1,2]}`,
		`{"b":1.50,"a":-0}`:                   `{"a":-0,"b":1.50}`,
		`[1e400,1E5,10000000000000000000001]`: `[1e400,1E5,10000000000000000000001]`,
		`{"a":1,"a":2}`:                       `{"a":2}`,
		`"\u0041é\ud83d\ude00\/"`:             `"A\u00e9\ud83d\ude00/"`,
		`"\ud800"`:                            `"\ud800"`,
	} {
		got, err := AppendExact([]byte("x"), []byte(doc))
		require.NoError(t, err, doc)
		require.Equal(t, "x"+want, string(got), doc)
	}
	for _, doc := range []string{``, ` `, `{`, `NaN`, `[Infinity]`, `01`, "\"\xff\"", "\"\xed\xa0\x80\"", `{} {}`} {
		got, err := AppendExact([]byte("x"), []byte(doc))
		require.Error(t, err, doc)
		require.Equal(t, "x", string(got), doc)
	}
}
