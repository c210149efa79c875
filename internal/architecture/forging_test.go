package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

// forging matches the methods that seal with a given seed or step by step, and the broken designs.
var forging = regexp.MustCompile(`\S+\.(Seal|Mint)(Seeded|Edited)\b|sealab/internal/broken\S*`)

// production imports two codecs and the middleware, as a server does.
const production = `package main

import (
	"os"

	"sealab/codecs/aesgcm"
	_ "sealab/codecs/boundary"
	"sealab/codecs/hmacsha256"
)

func main() {
	for _, c := range []interface {
		Seal(dst, payload []byte) ([]byte, error)
	}{aesgcm.Ephemeral(), hmacsha256.Ephemeral()} {
		token, _ := c.Seal(nil, nil)
		os.Stdout.Write(token)
	}
}
`

// TestNoForgingInPrograms links a program that imports designs as a server does, and checks that it
// contains no hooks of the laboratory. A program of the laboratory is the control.
func TestNoForgingInPrograms(t *testing.T) {
	if testing.Short() {
		testenv.Skip(t, "-short: it links two programs")
	}
	main := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(main, []byte(production), 0o644))
	require.Empty(t, forging.FindAllString(symbols(t, main), -1))
	require.NotEmpty(t, forging.FindAllString(symbols(t, "sealab/vectors/mutate/judge"), -1))
}

// symbols links a program and returns its symbol table.
func symbols(t *testing.T, program string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "binary")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, program).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.CommandContext(t.Context(), "go", "tool", "nm", binary).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
