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
// A check that vectors cannot guard has a mark in the line before it, or at its
// end, with the reason: if such a check is disabled, no answer changes, or vectors
// cannot record the changed answer.
//
//	//mutant:equivalent the key is derived, so its size is right
//	if err != nil {
//
// Limitation: mutate does not show that the checks are correct. It shows only
// whether vectors notice their loss.
package mutate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
)

// A Check is one condition that refuses.
type Check struct {
	N    int
	File string // path relative to the module root
	Line int
	Func string
	Text string // the condition, in Go
	Mark *Mark  // nil if a vector has to guard the check

	from, to int    // offsets of the condition in the file
	switched string // name of its switch in package mutant
}

// A Mark says why no vector can guard the checks of one line.
type Mark struct {
	File   string
	Line   int // line of the checks
	Reason string
}

// marking begins a mark.
const marking = "//mutant:equivalent "

// sourceFile is one parsed file of a design.
type sourceFile struct {
	name string // path relative to the module root
	path string
	text []byte
	file *ast.File
	fset *token.FileSet

	marks map[int]*Mark // by line
}

func parse(name, path string) (*sourceFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	f := &sourceFile{name, path, text, file, fset, map[int]*Mark{}}
	f.readMarks()
	return f, nil
}

// readMarks collects the marks of the file.
func (f *sourceFile) readMarks() {
	for _, group := range f.file.Comments {
		for _, c := range group.List {
			reason, ok := strings.CutPrefix(c.Text, marking)
			if !ok {
				continue
			}
			at := f.fset.Position(c.Pos())
			line := at.Line
			if before := f.text[at.Offset-at.Column+1 : at.Offset]; len(strings.TrimSpace(string(before))) == 0 {
				line++
			}
			f.marks[line] = &Mark{f.name, line, reason}
		}
	}
}

// find returns the checks of the given files.
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
	return checks
}
