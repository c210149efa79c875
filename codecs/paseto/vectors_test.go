package paseto

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
)

// TestVectors runs the published vectors of the purpose local, including
// footers and implicit assertions, and vectors of other versions and encodings.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/v4.json")
	require.NoError(t, err)
	var file struct {
		Tests []struct {
			Name, Key, Nonce, Token, Footer string
			Payload                         *string
			Fail                            bool   `json:"expect-fail"`
			Implicit                        string `json:"implicit-assertion"`
		}
	}
	require.NoError(t, json.Unmarshal(data, &file))
	opened, refused := 0, 0
	for _, v := range file.Tests {
		if v.Key == "" {
			v.Key = strings.Repeat("00", keySize) // vectors of the purpose public have no such key
		}
		key, err := hex.DecodeString(v.Key)
		require.NoError(t, err)
		f := &format{key: key}
		nonce, body, tag, footer, ok := parse([]byte(v.Token), false)
		var got []byte
		if ok {
			got, err = f.open(nil, nonce, body, tag, footer, []byte(v.Implicit))
		}
		if v.Fail {
			refused++
			require.True(t, !ok || codecs.Rejected(err) != nil, v.Name)
			continue
		}
		opened++
		require.True(t, ok, v.Name)
		require.NoError(t, err, v.Name)
		require.Equal(t, *v.Payload, string(got), v.Name)
		require.Equal(t, v.Footer, string(footer), v.Name)
		seed, err := hex.DecodeString(v.Nonce)
		require.NoError(t, err)
		body = f.xor(seed, []byte(*v.Payload))
		again := framework.Join(nil, nil, parts([]byte(prefix), seed, body, f.tag(seed, []byte(prefix), seed, body, footer, []byte(v.Implicit)))...)
		require.True(t, strings.HasPrefix(v.Token, string(again)), v.Name)
	}
	require.Equal(t, 9, opened)
	require.NotZero(t, refused)
}
