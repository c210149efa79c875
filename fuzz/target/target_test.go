package target_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/program"
	"sealab/fuzz/target"
)

// TestEveryTargetIsNative holds the functions of native_test.go to the list of
// targets.
func TestEveryTargetIsNative(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "native_test.go", nil, 0)
	require.NoError(t, err)
	var native, want []string
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Fuzz") {
			native = append(native, f.Name.Name)
		}
	}
	for _, target := range target.All() {
		want = append(want, target.NativeName())
	}
	require.ElementsMatch(t, want, native)
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

// BenchmarkTargets runs the seeds of each target, for executions a second.
func BenchmarkTargets(b *testing.B) {
	for _, t := range target.All() {
		if missing := t.Unexercised(); missing != "" {
			b.Logf("unexercised: %s: %s", t.Name, missing)
			continue
		}
		seeds, err := t.Seeds()
		require.NoError(b, err)
		b.Run("target="+t.Name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				require.NoError(b, t.Run(program.New(seeds[i%len(seeds)])))
			}
		})
	}
}
