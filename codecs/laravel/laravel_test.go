package laravel

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/codectest"
)

func TestConformance(t *testing.T) {
	t.Run("Encrypter", func(t *testing.T) { codectest.Run(t, Encrypter) })
	t.Run("MCP", func(t *testing.T) { codectest.Run(t, MCP) })
}

func TestLibrary(t *testing.T) { codectest.Library(t, Encrypter) }

// TestArguments compares the canonical JSON of arguments with that of PHP
// 8.2.36: json_encode of the sorted array.
func TestArguments(t *testing.T) {
	for raw, want := range map[string]string{
		`{}`: `[]`, `[]`: `[]`, `{"z":{},"a":[]}`: `{"a":[],"z":[]}`,
		`{"b":1,"a":{"y":1.0,"x":-0}}`: `{"a":{"x":0,"y":1},"b":1}`,
		`{"a":{"1":"b","0":"a"}}`:      `{"a":["a","b"]}`,
		`{"a":{"2":1,"-1":2}}`:         `{"a":{"-1":2,"2":1}}`,
		`{"é/":"\u007f\u0001\t😀"}`:     `{"\u00e9\/":"` + "\x7f" + `\u0001\t\ud83d\ude00"}`,
		`{"n":[0.0,-0.0,1E2,9223372036854775807,9223372036854775808,1e16,1e17,1.5e25,0.0001,0.00001,-9223372036854775809]}`: `{"n":[0,-0,100,9223372036854775807,9.223372036854776e+18,10000000000000000,1.0e+17,1.5e+25,0.0001,1.0e-5,-9.223372036854776e+18]}`,
		`{"":1,"a":2,"a":3}`: `{"":1,"a":3}`, `{"a":null,"b":true,"c":false}`: `{"a":null,"b":true,"c":false}`,
	} {
		got, err := appendArguments(nil, []byte(raw))
		require.NoError(t, err, raw)
		require.Equal(t, want, string(got))
	}
	for _, raw := range []string{`{"0":1}`, `[1]`, `null`, `"a"`, `{"1.5":1}`, `{"a":1,"1":2}`, `{"a":1e400}`, `{"a":"\ud800"}`, `{`} {
		_, err := appendArguments(nil, []byte(raw))
		require.Error(t, err, raw)
	}
}

// TestScope compares the digest of a request with that of PHP 8.2.36:
// hash('sha256', json_encode(["tools/call", "deploy", null, ["env" => "prod"],
// "alice"])).
func TestScope(t *testing.T) {
	alice := "alice"
	got, err := scopeOf(&codecs.Context{Method: "tools/call", Target: "deploy", Arguments: []byte(`{"env":"prod"}`), Principal: &alice})
	require.NoError(t, err)
	require.Equal(t, "776328ede30a6b93a2ac4fad99fc94f41dd3ba0e8b8c15d15a65f2e41a55d566", got)
}
