package engine

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// An edit replaces one text in a function, or all of its body where from is
// empty.
type edit struct{ function, from, to string }

// apply returns the source with the edit.
func (e edit) apply(source string) (string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.SkipObjectResolution)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == e.function && f.Body != nil {
			return e.applyTo(source, set.Position(f.Body.Pos()).Offset, set.Position(f.Body.End()).Offset)
		}
	}
	return "", fmt.Errorf("%w: it has no function %s", ErrUnknown, e.function)
}

// applyTo applies the edit to the body that is source[begin:end].
func (e edit) applyTo(source string, begin, end int) (string, error) {
	body := source[begin:end]
	if e.from == "" {
		return source[:begin] + e.to + source[end:], nil
	}
	if n := strings.Count(body, e.from); n != 1 {
		return "", fmt.Errorf("%w: %s has %q %d times, want once", ErrUnknown, e.function, e.from, n)
	}
	return source[:begin] + strings.Replace(body, e.from, e.to, 1) + source[end:], nil
}

// asPartOf returns a source of this folder as a file of another package: without
// what stands before its package clause, and under the other's name.
func asPartOf(name, source string) (string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, parser.PackageClauseOnly)
	if err != nil {
		return "", fmt.Errorf("sealab: %w", err)
	}
	return "package " + name + source[set.Position(file.Name.End()).Offset:], nil
}
