package mcppy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/codectest"
	"sealab/codecs/mcppy"
	"sealab/internal/lab"
)

func TestConformance(t *testing.T) { codectest.Run(t, mcppy.Design) }

// TestVector compares the scheme with a token that the Python SDK minted with a
// fixed nonce and salt.
func TestVector(t *testing.T) {
	principal, audience := `["client-1","https://as.example","alice"]`, "svc"
	b := &codecs.Context{
		Method: "tools/call", Target: "deploy", Arguments: json.RawMessage(`{"z":1.0,"a":[1e16,"é\ud800"]}`),
		Principal: &principal, Audience: &audience,
	}
	const want = "v1.HQIIGxAREhMUFRYXGBkaG1mSwEIzFcRVlJuUAlIi9NpPvdMFK-H9LrmYwzOqY2bd4AJcsjUEjie6u99zg7OhB_Ufi0q2D3BTujPaGaE5YiVgDtf-kiA21eozIbCX8NdfGU4mEJaqpcX2g0r7F3MlmgmREw87Me1e5nTmHwc6XVZmiWvdlfLUHoBpiw04lYU0I6iKurDVBjDbCPz-3zzrlbvbqg5x_x1uHUAKazpeZXVnkuuzOQdQ8lPD611o3O-eMyGbzgUzibv4q4Bhkg6v0A"
	seed := []byte("\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x00\x01\x02\x03\x04\x05\x06\x07")
	now := time.Unix(1795164472, 250_000_000)
	for _, reading := range []string{"strict", "sdk"} {
		s, err := mcppy.Design.OpenScheme(codecs.Config{Secrets: [][]byte{bytes.Repeat([]byte("k"), 32)}, Options: map[string]string{"reading": reading}})
		require.NoError(t, err)
		token, err := s.(lab.SeededScheme).MintSeeded(nil, seed, []byte(`{"step":1}`), codectest.At(b, now))
		require.NoError(t, err)
		require.Equal(t, want, string(token))
		state, err := s.Verify(nil, token, codectest.At(b, now.Add(599*time.Second)))
		require.NoError(t, err)
		require.Equal(t, `{"step":1}`, string(state))
	}
}

// TestCollision puts two secrets with the same key-id into a ring.
func TestCollision(t *testing.T) {
	secret := func(n int) []byte { return fmt.Appendf(nil, "%032d", n) }
	_, err := mcppy.NewCodec(secret(35028), secret(44271))
	require.ErrorContains(t, err, "key ID")
	_, err = mcppy.NewCodec(secret(35028), secret(35029))
	require.NoError(t, err)
}
