// Package mutate asks whether the vectors are enough: it finds every check in
// the designs that refuses something, disables one at a time, and sees whether
// a committed vector notices.
//
// A check is a condition, an operand of || of its own, whose truth makes a
// function return a refusal, an error, false or nothing; or an operand of && of
// a boolean that a function returns. Checks are looked for in the packages that
// the catalog imports, in the functions that can be reached by name from the
// methods that read tokens and from the constructors. What makes tokens or takes
// them apart without judging them is left out.
//
// The designs' sources are not touched: one build with an overlay holds every
// check behind a switch (package internal/mutant), and a program runs the vectors
// once per check.
//
// It does not show that the checks are the right ones: only that none can be
// lost in silence.
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
	File string // path from the module's root
	Line int
	Func string
	Text string // the condition, in Go

	from, to int    // where the condition stands in the file
	switched string // the switch it is put behind
}

// Key names the check without its line, so that it outlives edits elsewhere.
func (c *Check) Key() string { return c.File + ": " + c.Func + ": " + c.Text }

// sourceFile is one parsed file of a design.
type sourceFile struct {
	name string // from the module's root
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
