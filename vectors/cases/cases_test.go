package cases_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/vectors"
	"sealab/vectors/cases"
)

// TestTwoKeysFindsPolynomialsOverBits shows that the search for a ciphertext
// with one tag under two keys finds it where the tag is affine in its bits, and
// nothing where a design's tag is anything else: never the other way round.
func TestTwoKeysFindsPolynomialsOverBits(t *testing.T) {
	found := 0
	for _, d := range catalog.Formats() {
		if d.IsScheme() {
			continue
		}
		pair := withCase(t, d, "-two-keys-")
		if len(pair) == 0 {
			continue
		}
		found++
		require.Len(t, pair, 2, d.Name)
		require.NotEqual(t, pair[0].Released, pair[1].Released, "%s: the two payloads are the same", d.Name)
		word, _ := d.Guarantee(codecs.KeyCommitting, nil)
		require.False(t, word.Holds, "%s states %s", d.Name, codecs.KeyCommitting)
		for _, test := range pair {
			require.Equal(t, vectors.Accept, test.Expect, test.ID)
		}
	}
	require.NotZero(t, found, "no design has a tag that two keys share")
	for _, d := range catalog.Formats() {
		if word, _ := d.Guarantee(codecs.KeyCommitting, nil); word.Holds && !d.IsScheme() {
			require.Empty(t, withCase(t, d, "-two-keys-"), d.Name)
		}
	}
}

// withCase returns the committed tests of d whose id contains part.
func withCase(t *testing.T, d codecs.Design, part string) []vectors.Test {
	t.Helper()
	f, err := vectors.Read(vectors.Path(filepath.Join("..", "files"), d.Name))
	require.NoError(t, err)
	return slices.DeleteFunc(f.Tests, func(test vectors.Test) bool { return !strings.Contains(test.ID, part) })
}

func TestNotesAreComplete(t *testing.T) {
	for flag, n := range cases.Notes {
		require.NotEmpty(t, n.BugClass, flag)
		require.NotEmpty(t, n.Gain, flag)
	}
}
