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

// TestADesignIsOneFolderAndOneRow checks that only a design's own folder and the
// catalog name it in code. Instruments learn the name from the catalog. Prose, test data and tests
// may quote names.
func TestADesignIsOneFolderAndOneRow(t *testing.T) {
	naming := namesInCode(t, filepath.Join("..", ".."))
	for _, d := range catalog.Variants() {
		// Claims over a codec are derived from the codec's row.
		folders := naming[strings.TrimSuffix(d.Name, "-claims")]
		// Case files name SDKs, and designs are named after some of them. Presets
		// are rows of the catalog over a design.
		require.NotEmpty(t, folders, d.Name)
		delete(folders, "codecs/casefile")
		delete(folders, "codecs/catalog")
		require.LessOrEqual(t, len(folders), 1, "%s is named in %v", d.Name, folders)
		for folder := range folders {
			require.True(t, strings.HasPrefix(folder, "codecs/"), "%s is named in %s", d.Name, folder)
		}
	}
}

// namesInCode maps each string constant of the non-test code below root to the
// folders that have it.
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
