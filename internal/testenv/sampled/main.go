// Command sampled prints the arguments with which go test runs the tests that take
// samples under the race detector: -run with their names, and their packages. A test
// takes samples if it mentions testenv.Sample or testenv.Race, or a function,
// variable or method of this module that does.
//
// Functions are followed by their names, methods in their own package only. Types
// are not checked, so that a method of the same name counts as well.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	args, err := arguments(".", "sealab/internal/testenv")
	if err != nil {
		fmt.Fprintln(os.Stderr, "sampled:", err)
		os.Exit(2)
	}
	fmt.Println(strings.Join(args, " "))
}

// A name is a declaration of a package: a function, a variable or a method.
type name struct{ path, name string }

// A graph has the names that each declaration mentions.
type graph map[name]map[name]bool

// arguments returns the arguments of go test for the module of a folder. testenv is
// the package with Sample and Race.
func arguments(folder, testenv string) ([]string, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	g := graph{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Dir                    string
			GoFiles, TestGoFiles, XTestGoFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading go list: %w", err)
		}
		for _, file := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			if err := g.add(p.ImportPath, filepath.Join(p.Dir, file)); err != nil {
				return nil, err
			}
		}
	}
	tests, packages := map[string]bool{}, map[string]bool{}
	for n := range g.reaching(name{testenv, "Sample"}, name{testenv, "Race"}) {
		if strings.HasPrefix(n.name, "Test") && n.path != testenv {
			tests[n.name], packages[n.path] = true, true
		}
	}
	if len(tests) == 0 {
		return nil, errors.New("no test takes samples")
	}
	pattern := "^(" + strings.Join(slices.Sorted(maps.Keys(tests)), "|") + ")$"
	return append([]string{"-run", pattern}, slices.Sorted(maps.Keys(packages))...), nil
}

// add reads the declarations of a file. Those of a test outside its package stand
// beside those of the package: both have the tests of one folder.
func (g graph) add(importPath, file string) error {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("reading declarations: %w", err)
	}
	imports := map[string]string{}
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return fmt.Errorf("reading imports of %s: %w", file, err)
		}
		local := path.Base(imported)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		imports[local] = imported
	}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			g.mention(name{importPath, d.Name.Name}, d, imports)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					for _, n := range v.Names {
						g.mention(name{importPath, n.Name}, v, imports)
					}
				}
			}
		}
	}
	return nil
}

// mention notes the names in a declaration.
func (g graph) mention(from name, decl ast.Node, imports map[string]string) {
	if g[from] == nil {
		g[from] = map[name]bool{}
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && imports[x.Name] != "" {
				g[from][name{imports[x.Name], n.Sel.Name}] = true
				return false
			}
		case *ast.Ident:
			g[from][name{from.path, n.Name}] = true
		}
		return true
	})
}

// reaching returns the declarations that mention one of some names, directly or by
// others.
func (g graph) reaching(names ...name) map[name]bool {
	found := map[name]bool{}
	for _, n := range names {
		found[n] = true
	}
	for grown := true; grown; {
		grown = false
		for from, to := range g {
			if found[from] {
				continue
			}
			for n := range to {
				if found[n] {
					found[from], grown = true, true
					break
				}
			}
		}
	}
	return found
}
