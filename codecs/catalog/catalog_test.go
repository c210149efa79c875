package catalog_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sealab/codecs/catalog"
	"sealab/codecs/codectest"
	"sealab/internal/testenv"
)

func TestDesignsAreSeparate(t *testing.T) { codectest.Separate(t, catalog.Variants()) }

// TestClaimsOverEveryCodec runs the suite on the rows without a package of
// their own: claims over each codec.
func TestClaimsOverEveryCodec(t *testing.T) {
	derived := 0
	for _, d := range catalog.Variants() {
		if strings.HasSuffix(d.Name, "-claims") {
			if derived++; testenv.Sample() && derived%9 != 0 {
				continue // a ninth of the rows
			}
			t.Run(d.Name, func(t *testing.T) { codectest.Run(t, d) })
		}
	}
	require.NotZero(t, derived)
}

// TestNamesAndPrefixes checks that each name finds its row and that designs of
// this module have different prefixes.
func TestNamesAndPrefixes(t *testing.T) {
	names := map[string]bool{}
	for _, d := range catalog.Variants() {
		require.False(t, names[d.Name], "%s is there twice", d.Name)
		names[d.Name] = true
		found, err := catalog.Find(d.Name)
		require.NoError(t, err)
		require.Equal(t, d.Doc, found.Doc)
	}
	_, err := catalog.Find("no-such-design")
	require.Error(t, err)
	require.True(t, strings.Contains(err.Error(), "no-such-design"), err)
}

// TestPrimitivesAreJudged checks that the page on vectors names, for every
// codec, the published vectors and the second implementation that verify its
// primitive.
func TestPrimitivesAreJudged(t *testing.T) {
	page, err := os.ReadFile("../../vectors/README.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(page), "\n## Primitives\n")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n## ")
	judged := make(map[string]bool)
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) == 6 {
			for name := range strings.SplitSeq(cells[2], ",") {
				judged[strings.TrimSpace(name)] = true
			}
		}
	}
	for _, d := range catalog.All() {
		if !d.IsScheme() {
			assert.True(t, judged[d.Name], "no row in the table of primitives of vectors/README.md names %s", d.Name)
		}
	}
}
