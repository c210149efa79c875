package casefile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/casefile"
	"sealab/codecs/catalog"
)

// cases returns all cases of the committed files.
func cases(t *testing.T) []casefile.Case {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "cmd", "sealab", "testdata", "verdicts", "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var all []casefile.Case
	for _, file := range files {
		f, err := os.Open(file)
		require.NoError(t, err)
		of, err := casefile.Read(f)
		require.NoError(t, err, file)
		require.NoError(t, f.Close())
		all = append(all, of...)
	}
	return all
}

// TestStrictReading checks that the strict reading of each format accepts every
// unmodified token of its SDK, and refuses each token that the SDK refuses.
func TestStrictReading(t *testing.T) {
	minted, lenient := 0, 0
	for _, c := range cases(t) {
		asSDK, err := catalog.Find(c.Design)
		require.NoError(t, err)
		strict, err := catalog.Find(strings.TrimSuffix(c.Design, "-faithful"))
		require.NoError(t, err)
		want, agrees, err := c.Ask(asSDK)
		require.NoError(t, err)
		require.True(t, agrees, c.Text)
		got, _, err := c.Ask(strict)
		require.NoError(t, err)
		if c.Note == "as minted" {
			minted++
			require.True(t, got.Accept, "%s: %s", got, c.Text)
		}
		if got.Accept {
			require.Equal(t, want, got, c.Text)
		}
		if want.Accept && !got.Accept {
			lenient++
		}
	}
	require.NotZero(t, minted)
	require.NotZero(t, lenient, "no line shows the difference between the readings")
}
