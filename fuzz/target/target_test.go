package target_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/target"
)

// TestEveryTargetIsNative holds the functions of native_test.go to the list of
// targets.
func TestEveryTargetIsNative(t *testing.T) { requireFunctions(t, "native_test.go") }

// TestEveryTargetIsForGoFuzz does the same for the functions of package gofuzz.
func TestEveryTargetIsForGoFuzz(t *testing.T) { requireFunctions(t, "../gofuzz/gofuzz.go") }

// requireFunctions requires that a file has one fuzz function for each target.
func requireFunctions(t *testing.T, path string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	var functions, want []string
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Fuzz") {
			functions = append(functions, f.Name.Name)
		}
	}
	for _, target := range target.All() {
		want = append(want, target.NativeName())
	}
	require.ElementsMatch(t, want, functions)
}

// TestEveryTargetHasSeeds holds that there is something to mutate. The native
// functions run all of it.
func TestEveryTargetHasSeeds(t *testing.T) {
	for _, target := range target.All() {
		seeds, err := target.Seeds()
		require.NoError(t, err, target.Name)
		require.NotEmpty(t, seeds, target.Name)
	}
}

func TestTargetsAreDescribed(t *testing.T) {
	for _, tt := range target.All() {
		require.NotEmpty(t, tt.Doc, tt.Name)
		require.NotEmpty(t, tt.Layer, tt.Name)
		found, err := target.Find(tt.Name)
		require.NoError(t, err)
		require.Equal(t, tt.Name, found.Name)
	}
	_, err := target.Find("none")
	require.Error(t, err)
}

// TestReadmeListsTargets holds the table of the documentation to the targets.
func TestReadmeListsTargets(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	for _, target := range target.All() {
		require.Regexp(t, "(?m)^\\| .*`"+target.Name+"`.* \\|", string(readme))
	}
}
