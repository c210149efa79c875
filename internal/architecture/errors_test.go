package architecture

import (
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestErrorsDoNotNameTheProgram checks that no text of an error or panic begins with the program's name,
// because the command prints the name. The uniform text of a refusal is exempt: it is a constant of
// package codecs.
func TestErrorsDoNotNameTheProgram(t *testing.T) {
	require.Empty(t, errorsNaming(t, filepath.Join("..", ".."), module))
}

// TestErrorsNaming is the control: errorsNaming finds each way of writing an error.
func TestErrorsNaming(t *testing.T) {
	dir := t.TempDir()
	code := "package a\nvar _ = []any{errors.New(`x: one`), fmt.Errorf(\"x: \"+\"two\"+\"%v\", 2), errors.New(\"y: x: three\"), fmt.Sprint(\"x: four\")}\n" +
		"func f() { panic(\"x: five: \" + g()) }\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte(code), 0o600))
	require.Equal(t, []string{".: x: one", ".: x: ", ".: x: five: "}, errorsNaming(t, dir, "x"))
}

// errorsNaming returns the error texts below root that begin with the program's name. It ignores commands.
func errorsNaming(t *testing.T, root, program string) []string {
	t.Helper()
	var found []string
	inspectCode(t, root, func(folder string, n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 || strings.HasPrefix(folder, "cmd/") || !slices.Contains(raising, callee(call.Fun)) {
			return
		}
		first := call.Args[0]
		for sum, ok := first.(*ast.BinaryExpr); ok; sum, ok = first.(*ast.BinaryExpr) {
			first = sum.X
		}
		if text, ok := constant(first); ok && strings.HasPrefix(text, program+":") {
			found = append(found, folder+": "+text)
		}
	})
	return found
}

// raising lists the functions whose first argument is an error text.
var raising = []string{"errors.New", "fmt.Errorf", "panic"}

// callee returns the qualified name of a called function.
func callee(e ast.Expr) string {
	switch f := e.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return callee(f.X) + "." + f.Sel.Name
	}
	return ""
}
