package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/cli"
)

// TestExitStatus checks that a refused token and a fault give different exit
// statuses.
func TestExitStatus(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "secret.key")
	require.NoError(t, os.WriteFile(keys, []byte(strings.Repeat("00ff", 16)), 0o600))
	for _, c := range []struct {
		name string
		args []string
		want int
	}{
		{"done", []string{"seal", "hmac-sha256", "--keys", keys}, cli.OK},
		{"refused", []string{"unseal", "hmac-sha256", "--keys", keys}, cli.Refuted},
		{"no such file", []string{"unseal", "hmac-sha256", "--keys", keys + ".old"}, cli.Fault},
		{"no such design", []string{"unseal", "nope", "--keys", keys}, cli.Fault},
		{"not a token", []string{"inspect"}, cli.Fault},
	} {
		var stdout, stderr bytes.Buffer
		got := run(c.args, strings.NewReader("payload"), &stdout, &stderr)
		require.Equal(t, c.want, got, "%s: %s", c.name, stderr.String())
		require.Equal(t, c.want == cli.OK, stderr.Len() == 0, "%s: %s", c.name, stderr.String())
		require.LessOrEqual(t, strings.Count(stderr.String(), "\n"), 1, c.name)
	}
}
