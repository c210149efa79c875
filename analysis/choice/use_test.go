package choice_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/analysis/choice"
	"sealab/codecs"
	"sealab/codecs/catalog"
)

// TestUseCompiles compiles the lines of Go for every design that has facts.
func TestUseCompiles(t *testing.T) {
	var fits []choice.Fit
	for _, need := range [][]codecs.Property{nil, {codecs.Expiry}} {
		answer, err := choice.Choose(catalog.All(), choice.Query{Needs: need}, nil)
		require.NoError(t, err)
		fits = append(fits, answer.Fits...)
	}
	require.Greater(t, len(fits), 30)
	for _, name := range []string{"jwe-dir-a256gcm", "mcp-ts"} { // designs for comparison, which pages show too
		d, err := catalog.Find(name)
		require.NoError(t, err)
		fits = append(fits, choice.Fit{Design: name, Use: choice.Use(d)})
	}
	imports := map[string]bool{`"encoding/json"`: true}
	var body strings.Builder
	for i, f := range fits {
		fmt.Fprintf(&body, "func use%d(secret, payload, state []byte, secrets [][]byte, method, target, principal string, arguments json.RawMessage) {\n", i)
		for _, line := range f.Use {
			if path, ok := strings.CutPrefix(line, "import "); ok {
				imports[path] = true
				continue
			}
			fmt.Fprintln(&body, "\t"+line)
		}
		if strings.HasSuffix(f.Design, "-claims") {
			require.Contains(t, strings.Join(f.Use, "\n"), "Principal: &principal", f.Design)
			require.Contains(t, f.Use, `import "sealab/codecs/claims"`)
		}
		fmt.Fprintln(&body, "\t_, _ = token, err\n}")
	}
	var head strings.Builder
	fmt.Fprintln(&head, "package use\n\nimport (")
	for path := range imports {
		fmt.Fprintln(&head, "\t"+path)
	}
	fmt.Fprintln(&head, ")")

	// Only an overlay puts the file into the module.
	dir := t.TempDir()
	source := filepath.Join(dir, "use.go")
	require.NoError(t, os.WriteFile(source, []byte(head.String()+body.String()), 0o600))
	here, err := os.Getwd()
	require.NoError(t, err)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "use", "use.go"): source}})
	require.NoError(t, err)
	path := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(path, overlay, 0o600))
	out, err := exec.Command("go", "build", "-overlay", path, "./use").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestOrder checks that designs are ordered by cost, or by length if there is no cost.
func TestOrder(t *testing.T) {
	q := choice.Query{Needs: []codecs.Property{codecs.Confidentiality}, Payload: 64}
	costs := func(design string, payload int) (choice.Cost, bool) {
		require.Equal(t, 64, payload)
		cost, ok := map[string]choice.Cost{"ascon-aead128": {SealNs: 30, UnsealNs: 5}, "aes-cbc-hmac": {SealNs: 10, UnsealNs: 20}}[design]
		return cost, ok
	}
	answer, err := choice.Choose(catalog.All(), q, costs)
	require.NoError(t, err)
	require.Equal(t, "aes-cbc-hmac", answer.Fits[0].Design)
	require.Equal(t, "ascon-aead128", answer.Fits[1].Design)
	for i, f := range answer.Fits[2:] {
		require.Nil(t, f.Cost)
		if i > 0 {
			require.LessOrEqual(t, answer.Fits[1+i].Token, f.Token)
		}
	}
}
