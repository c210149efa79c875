package tokens_test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review/tokens"
)

func TestShows(t *testing.T) {
	random := bytes.Repeat([]byte{0x8f, 0x03, 0xd1, 0xfe, 0x99, 0x12, 0xe7, 0x80}, 4)
	code := base64.RawURLEncoding.EncodeToString
	for name, c := range map[string]struct {
		token string
		shows bool
	}{
		"an object behind a tag":            {code(append(bytes.Clone(random), `{"user":"alice","exp":1795921919}`...)), true},
		"a list behind a tag":               {code(append(bytes.Clone(random), `["deploy","alice","wGPlWxzn7mSnC2c",1795921919443]`...)), true},
		"fields behind a tag":               {code(append(bytes.Clone(random), "deploy|alice|wGPlWxzn7mSnC2cVCHmjGgr|1795921919"...)), true},
		"a signed JWT":                      {code([]byte(`{"alg":"HS256"}`)) + "." + code([]byte(`{"sub":"alice"}`)) + "." + code(random), true},
		"a ciphertext":                      {"v1." + code(bytes.Repeat(random, 4)), false},
		"a JWE":                             {code([]byte(`{"alg":"dir","enc":"A256GCM","kid":"k1"}`)) + ".." + code(random), false},
		"a header in front of a ciphertext": {code(append([]byte("key 2026-11, aes-256-gcm, v1, "), bytes.Repeat(random, 2)...)), false},
		"a ciphertext encoded twice":        {code([]byte(code(bytes.Repeat(random, 4)))), false},
	} {
		require.Equal(t, c.shows, tokens.Shows(c.token), name)
	}
}

// TestInTheOpenBehindATag checks that a compressed text is read behind a tag of any usual length.
func TestInTheOpenBehindATag(t *testing.T) {
	const text = `{"user":"alice","note":"a note that nobody else may read"}`
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	require.NoError(t, err)
	_, err = w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for _, tag := range []int{0, 16, 32, 48, 64} {
		token := base64.RawURLEncoding.EncodeToString(append(bytes.Repeat([]byte{0x8f}, tag), packed.Bytes()...))
		require.Contains(t, tokens.InTheOpen(token), text, tag)
	}
}
