package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCapture tests captured tokens with random nonces, with nonces from a
// counter and with nonces of 16 bits, and too few tokens.
func TestCapture(t *testing.T) {
	random := func(r *rand.ChaCha8, n int) []byte {
		b := make([]byte, n)
		r.Read(b) //nolint:errcheck // never fails
		return b
	}
	for name, row := range map[string]struct {
		tokens int
		nonce  func(r *rand.ChaCha8, n int) []byte
		failed string // the failed tests of the first run
		err    string
	}{
		"random": {3000, func(r *rand.ChaCha8, _ int) []byte { return random(r, 12) }, "", ""},
		"a counter": {3000, func(_ *rand.ChaCha8, n int) []byte {
			return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, uint32(n)*2654435761), uint64(n)*0x9e3779b97f4a7c15)
		}, "differences of consecutive tokens", ""},
		"16 bits": {3000, func(r *rand.ChaCha8, _ int) []byte {
			var seed [32]byte
			copy(seed[:], random(r, 2))
			return random(rand.NewChaCha8(seed), 12)
		}, "collision", ""},
		"few":  {999, func(r *rand.ChaCha8, _ int) []byte { return random(r, 12) }, "", "got 999 tokens of one length, want at least 1000"},
		"none": {0, nil, "", "got 0 tokens of one length"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.NewChaCha8([32]byte{1})
			var text strings.Builder
			for n := range row.tokens {
				text.WriteString("v1." + base64.RawURLEncoding.EncodeToString(append(append(row.nonce(r, n), "step"...), random(r, 16)...)) + "\n")
			}
			file := filepath.Join(t.TempDir(), "tokens.txt")
			require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
			c, err := readCapture(file)
			if row.err != "" {
				require.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, row.tokens, c.Tested)
			require.Len(t, c.Runs, 2, "nonce and tag")
			require.Equal(t, []int{0, 12, 16, 16}, []int{c.Runs[0].From, c.Runs[0].Bytes, c.Runs[1].From, c.Runs[1].Bytes})
			require.Empty(t, c.Runs[1].Failed())
			if row.failed == "" {
				require.Empty(t, c.Runs[0].Failed())
			}
			require.Contains(t, c.Runs[0].Failed(), row.failed)
			var out bytes.Buffer
			require.NoError(t, c.write(&out))
			require.Contains(t, out.String(), "3000 tokens, 3000 tested of one length, 0 repeated")
		})
	}
}
