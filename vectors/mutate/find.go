// Package mutate measures whether the vectors are complete. It finds every refusing check in the designs
// and disables one at a time. A check is guarded if a committed vector notices, redundant if another check
// refuses the same vectors, and idle if it refuses no vector.
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
// If no vector can make a check refuse, a mark gives the reason. The mark is on the line before the
// check or at the end of its line.
//
//	//mutant:equivalent the key is derived, so its size is right
//	if err != nil {
//
// A mark at the end of a function's comment applies to every check of the function. It means that no
// vector calls the function, although the search finds it. The mark //mutant:processor is for checks that
// run only on some processors.
//
// Limitations: mutate does not show that the checks are correct, and a redundant check
// may be the only one that refuses other input.
package mutate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A Check is one condition that refuses.
type Check struct {
	File string // path relative to the module root
	Line int
	Func string
	Text string // the condition, in Go
	Mark *Mark  // nil if a vector has to make the check refuse

	from, to int    // offsets of the condition in the file
	switched string // name of its switch in package mutant
}

// A Mark states why no vector can guard the checks of one line.
type Mark struct {
	File   string
	Line   int // line of the checks, or of the function that holds them
	Reason string
	Varies bool // whether the check runs depends on the processor
}

// The prefixes of marks.
const (
	marking   = "//mutant:equivalent "
	processor = "//mutant:processor "
)

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
			varying, varies := strings.CutPrefix(c.Text, processor)
			if !ok && !varies {
				continue
			}
			if varies {
				reason = varying
			}
			at := f.fset.Position(c.Pos())
			line := at.Line
			if before := f.text[at.Offset-at.Column+1 : at.Offset]; len(strings.TrimSpace(string(before))) == 0 {
				line++
			}
			f.marks[line] = &Mark{f.name, line, reason, varies}
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
				s := scanner{file: f, fn: fn.Name.Name, mark: f.marks[f.fset.Position(fn.Pos()).Line]}
				s.block(fn.Body, fn.Type)
				checks = append(checks, s.checks...)
			}
		}
	}
	return checks
}

// reachable returns the keys of functions that are called when a token is read
// or a design is set up. The search starts from the methods of the contract,
// the parts of a catalog row, and functions that make rows. It compares methods
// by name only, so it may find too many.
func reachable(files []*sourceFile) map[string]bool {
	calls := map[string][]string{}
	queue := []string{".Unseal", ".Verify"}
	for _, f := range files {
		for _, d := range f.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				queue = append(queue, f.mentioned(d)...)
				continue
			}
			if fn.Body == nil {
				continue
			}
			calls[f.key(fn)] = append(calls[f.key(fn)], f.mentioned(fn.Body)...)
			if result := last(fn.Type); result == "Design" || result == "codecs.Design" {
				queue = append(queue, f.key(fn))
			}
		}
	}
	live := map[string]bool{}
	for ; len(queue) > 0; queue = queue[1:] {
		if key := queue[0]; !live[key] && !isOutside(key) {
			live[key] = true
			queue = append(queue, calls[key]...)
		}
	}
	return live
}

// isOutside reports whether a function makes tokens, parses them without judging, or states the claims of
// a design.
func isOutside(key string) bool {
	name := strings.ToLower(key[strings.LastIndexByte(key, '.')+1:])
	return slices.ContainsFunc([]string{"seal", "mint", "inspect", "encapsulate", "ephemeral", "guarantees"}, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	})
}

// folder returns the folder of the file's package.
func (f *sourceFile) folder() string { return path.Dir(f.name) }

// key returns the key of a function: "folder.Name", or ".Name" if it is a
// method.
func (f *sourceFile) key(fn *ast.FuncDecl) string {
	if fn.Recv != nil {
		return "." + fn.Name.Name
	}
	return f.folder() + "." + fn.Name.Name
}

// mentioned returns the keys of the functions that n may call or pass on.
func (f *sourceFile) mentioned(n ast.Node) []string {
	var keys []string
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && f.imported(x.Name) != "" {
				keys = append(keys, f.imported(x.Name)+"."+n.Sel.Name)
				return false
			}
			keys = append(keys, "."+n.Sel.Name)
		case *ast.Ident:
			keys = append(keys, f.folder()+"."+n.Name)
		}
		return true
	})
	return keys
}

// imported returns the folder of the package that the file imports as name. If
// the package belongs to another module, imported returns its path. It returns
// "" if there is no such import.
func (f *sourceFile) imported(name string) string {
	for _, spec := range f.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err == nil && (spec.Name != nil && spec.Name.Name == name || spec.Name == nil && path.Base(p) == name) {
			return strings.TrimPrefix(p, module+"/")
		}
	}
	return ""
}
