package architecture

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var reference = regexp.MustCompile("(?m)^\\| `(\\w+)`[^|]*\\| `([^`]+)` \\|")

// TestReferenceRuns compares the committed folders of results with the table in their README.
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
	made := uncommitted(results)
	for _, f := range files {
		run, err := filepath.Rel(results, f)
		require.NoError(t, err)
		run = filepath.ToSlash(run)
		if !slices.ContainsFunc(made, func(folder string) bool { return strings.HasPrefix(run+"/", folder) }) {
			found = append(found, run)
		}
	}
	require.NotEmpty(t, found)
	require.ElementsMatch(t, found, named, "the runs of results/README.md are not the folders of results")
}

// uncommitted returns the folders of results that git does not track, each with a final slash. These are
// local runs, as by make bench before make test. It returns none without git.
func uncommitted(results string) []string {
	out, err := exec.Command("git", "-C", results, "ls-files", "--others", "--exclude-standard", "--directory").Output()
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
}
