package main

import (
	"encoding/base64"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/cli"
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
		tests  string // a failed test of the nonce, or "passed"
		err    string
	}{
		"random": {3000, func(r *rand.ChaCha8, _ int) []byte { return random(r, 12) }, "passed", ""},
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
			status, out := sealab("inspect", "--capture", file)
			if row.err != "" {
				require.Equal(t, cli.Fault, status)
				require.Contains(t, out, row.err)
				return
			}
			require.Equal(t, cli.OK, status, out)
			lines := strings.Split(strings.TrimSpace(out), "\n")
			require.Len(t, lines, 4, "two lines of head, nonce and tag")
			require.Equal(t, "3000 tokens, 3000 tested of one length, 0 repeated", lines[0])
			require.Regexp(t, `^ *0 +12 .*`+row.tests, lines[2])
			require.Regexp(t, `^ *16 +16 .* passed$`, lines[3])
		})
	}
}
