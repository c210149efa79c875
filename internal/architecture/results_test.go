package architecture

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var reference = regexp.MustCompile("(?m)^\\| `(\\w+)`[^|]*\\| `([^`]+)` \\|")

// TestReferenceRuns compares the folders of results with the table of their README.
func TestReferenceRuns(t *testing.T) {
	results := filepath.Join("..", "..", "results")
	readme, err := os.ReadFile(filepath.Join(results, "README.md"))
	require.NoError(t, err)
	var named, found []string
	for _, row := range reference.FindAllStringSubmatch(string(readme), -1) {
		named = append(named, path.Join(row[1], row[2]))
	}
	files, err := filepath.Glob(filepath.Join(results, "*", "*"))
	require.NoError(t, err)
	for _, f := range files {
		run, err := filepath.Rel(results, f)
		require.NoError(t, err)
		found = append(found, filepath.ToSlash(run))
	}
	require.NotEmpty(t, found)
	require.ElementsMatch(t, found, named, "the runs of results/README.md are not the folders of results")
}
