package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/catalog"
)

// TestADesignIsOneFolderAndOneRow counts the places of the code that name a
// design: only its own folder may. The catalog lists it by its row and layers
// by its folder; instruments learn the name from the catalog. Prose, test data
// and tests may quote names.
func TestADesignIsOneFolderAndOneRow(t *testing.T) {
	naming := namesInCode(t, filepath.Join("..", ".."))
	for _, d := range catalog.Variants() {
		// Claims over a codec are derived from the codec's row.
		folders := naming[strings.TrimSuffix(d.Name, "-claims")]
		// Verdict files name the system that answered, which a design may be
		// called after.
		delete(folders, "codecs/casefile")
		require.Len(t, folders, 1, "%s is named in %v", d.Name, folders)
		for folder := range folders {
			require.True(t, strings.HasPrefix(folder, "codecs/"), "%s is named in %s", d.Name, folder)
			require.NotEqual(t, "codecs/catalog", folder, "%s", d.Name)
		}
	}
}

// namesInCode maps each string constant of the non-test code below root to the
// folders in which it stands.
func namesInCode(t *testing.T, root string) map[string]map[string]bool {
	t.Helper()
	naming := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					if naming[text] == nil {
						naming[text] = map[string]bool{}
					}
					naming[text][filepath.ToSlash(rel)] = true
				}
			}
			return true
		})
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, naming)
	return naming
}
