package review_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review/checks"
	"sealab/internal/testenv"
)

var write = flag.Bool("write", false, "write CHECKS.md anew")

// TestPage compares CHECKS.md with the table of checks. Each check must be complete and belong to a
// family.
func TestPage(t *testing.T) {
	page := checks.Page()
	if *write {
		require.NoError(t, os.WriteFile("CHECKS.md", page, 0o644))
	}
	committed, err := os.ReadFile("CHECKS.md")
	require.NoError(t, err)
	testenv.EqualLines(t, string(page), string(committed), "write it again with -args -write")
	seen := map[string]bool{}
	for _, c := range checks.All() {
		require.False(t, seen[c.ID], c.ID)
		seen[c.ID] = true
		require.Contains(t, string(page), "### "+c.ID+":", "no family")
		for _, text := range []string{c.Name, c.Sent, c.Want, c.Source, c.Impact, c.Fix, c.Category, string(c.Severity)} {
			require.NotEmpty(t, strings.TrimSpace(text), c.ID)
		}
		require.NotNil(t, c.Run, c.ID)
	}
}
