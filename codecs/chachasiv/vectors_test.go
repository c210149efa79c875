package chachasiv

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/wycheproof"
)

// vectors are those of c2sp.org/chacha20-poly1305-siv, version v0.0.1.
//
//go:embed testdata/vectors.txt
var vectors string

// TestSpecification runs the six vectors of the specification. It also changes
// each parameter, as the specification demands.
func TestSpecification(t *testing.T) {
	cases := strings.Split(strings.TrimSpace(vectors), "\n\n")
	require.Len(t, cases, 6)
	for _, text := range cases {
		c := map[string][]byte{}
		for line := range strings.Lines(text) {
			name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
			require.True(t, ok, line)
			b, err := hex.DecodeString(strings.TrimSpace(value))
			require.NoError(t, err)
			c[name] = b
		}
		a, err := newSIV(c["key"])
		require.NoError(t, err)
		sealed := append(bytes.Clone(c["ciphertext"]), c["tag"]...)
		require.Equal(t, sealed, a.Seal(nil, c["nonce"], c["plaintext"], c["associatedData"]))
		got, err := a.Open(nil, c["nonce"], sealed, c["associatedData"])
		require.NoError(t, err)
		require.True(t, bytes.Equal(c["plaintext"], got))
		for _, changed := range [][]byte{c["nonce"], c["associatedData"], sealed[:len(c["ciphertext"])], sealed[len(c["ciphertext"]):]} {
			for i := range changed {
				changed[i] ^= 0x80
				_, err := a.Open(nil, c["nonce"], sealed, c["associatedData"])
				require.Error(t, err)
				changed[i] ^= 0x80
			}
		}
	}
}

// TestAccumulated compares 10,000 cases with the same construction from
// OpenSSL's ChaCha20 and Poly1305, by the Python package cryptography 48.0.0.
func TestAccumulated(t *testing.T) {
	require.Equal(t, "47f3d7a1b47cb29270849e4b2645f81661c50628908473368d93bd8a1b968f5b",
		wycheproof.Accumulate(t, keySize, 10_000, newSIV))
}
