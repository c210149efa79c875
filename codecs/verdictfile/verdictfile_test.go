package verdictfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/verdictfile"
)

// lines returns every line of the committed verdicts, and of how many systems
// they are.
func lines(t *testing.T) []verdictfile.Line {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "cmd", "sealab", "testdata", "verdicts", "*.jsonl"))
	require.NoError(t, err)
	require.Len(t, files, 4)
	var all []verdictfile.Line
	for _, file := range files {
		f, err := os.Open(file)
		require.NoError(t, err)
		_, err = verdictfile.Read(f, func(l verdictfile.Line) error { all = append(all, l); return nil })
		require.NoError(t, err, file)
		require.NoError(t, f.Close())
	}
	require.Len(t, all, 2017)
	return all
}

// strict finds the strict reading of the format that a line asks for.
func strict(name string) (codecs.Design, error) {
	return catalog.Find(strings.TrimSuffix(name, "-faithful"))
}

// TestStrictReading checks that the strict reading of each format loses nothing
// and adds nothing: it takes every token as its SDK minted it, and none that the
// SDK refuses.
func TestStrictReading(t *testing.T) {
	minted, lenient := 0, 0
	for _, l := range lines(t) {
		asSDK, agrees, err := verdictfile.Replay(l, catalog.Find)
		require.NoError(t, err)
		require.True(t, agrees, l.Text)
		got, _, err := verdictfile.Replay(l, strict)
		require.NoError(t, err)
		if l.Note() == "as minted" {
			minted++
			require.True(t, got.Accept, "%s: %s", got, l.Text)
		}
		if got.Accept {
			require.Equal(t, asSDK, got, l.Text)
		}
		if asSDK.Accept && !got.Accept {
			lenient++
		}
	}
	require.Equal(t, 48, minted, "twelve tokens of each SDK")
	require.NotZero(t, lenient, "no line shows what the faithful reading is for")
}
