package architecture

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

// TestADesignIsOneFolderAndOneRow checks that only a design's own folder and the catalog contain its name
// in code. Instruments read the name from the catalog. Prose, test data and tests may use names.
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

// namesInCode maps each string constant of the non-test code below root to the folders that contain it.
func namesInCode(t *testing.T, root string) map[string]map[string]bool {
	t.Helper()
	naming := map[string]map[string]bool{}
	inspectCode(t, root, func(folder string, n ast.Node) {
		text, ok := constant(n)
		if !ok {
			return
		}
		if naming[text] == nil {
			naming[text] = map[string]bool{}
		}
		naming[text][folder] = true
	})
	require.NotEmpty(t, naming)
	return naming
}

// inspectCode calls visit with each node of the non-test code below root, and its folder.
func inspectCode(t *testing.T, root string, visit func(folder string, n ast.Node)) {
	t.Helper()
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
			visit(filepath.ToSlash(rel), n)
			return true
		})
		return err
	})
	require.NoError(t, err)
}

// constant returns the value of a string constant.
func constant(n ast.Node) (string, bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
