// Package mutate measures whether the vectors are complete. It finds every
// refusing check in the designs, disables one at a time, and reports whether a
// committed vector notices.
//
// A check is a condition that makes a function refuse if it is true: the
// function returns a refusal, an error, false or nil. Each operand of || is a
// check of its own. An operand of && is a check if a function returns the
// boolean. The search covers the packages that the catalog imports. It follows
// names from the constructors and from the methods that read tokens. It omits
// functions that make tokens or parse them without judging.
//
// The sources of the designs stay unchanged. One build with an overlay puts
// every check behind a switch (package internal/mutant). A program then runs
// the vectors once per check.
//
// Limitation: mutate does not show that the checks are correct. It shows only
// whether vectors notice their loss.
package mutate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
)

// A Check is one condition that refuses.
type Check struct {
	N    int
	File string // path relative to the module root
	Line int
	Func string
	Text string // the condition, in Go

	from, to int    // offsets of the condition in the file
	switched string // name of its switch in package mutant
}

// Key names the check without its line. It stays valid if other lines change.
func (c *Check) Key() string { return c.File + ": " + c.Func + ": " + c.Text }

// sourceFile is one parsed file of a design.
type sourceFile struct {
	name string // path relative to the module root
	path string
	text []byte
	file *ast.File
	fset *token.FileSet
}

func parse(name, path string) (*sourceFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &sourceFile{name, path, text, file, fset}, nil
}

// find returns the checks of the given files, numbered from 0.
func find(files []*sourceFile) []Check {
	live := reachable(files)
	var checks []Check
	for _, f := range files {
		for _, d := range f.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && live[f.key(fn)] {
				s := scanner{file: f, fn: fn.Name.Name}
				s.block(fn.Body, fn.Type)
				checks = append(checks, s.checks...)
			}
		}
	}
	for i := range checks {
		checks[i].N = i
	}
	return checks
}
