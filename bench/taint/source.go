package taint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sealab/internal/runfile"
)

// source is the Go source of a program's packages. For a source line, it finds the enclosing function and
// the functions whose result decides the branch.
type source struct {
	mu       sync.Mutex
	files    *token.FileSet
	packages map[string]*sourcePackage // by import path
	imports  types.Importer
	known    map[frame]runfile.Frame // frames that were resolved before
}

// A sourcePackage is a package as "go list" describes it. Its syntax and types are loaded with the first
// lookup.
type sourcePackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	ImportMap               map[string]string

	syntax []*ast.File
	info   *types.Info
}

// readSource lists the program's packages under the given build flags and environment.
func readSource(ctx context.Context, flags, env []string) (*source, error) {
	args := append([]string{"list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,ImportMap"}, flags...)
	cmd := tied(ctx, "go", append(args, programPath)...)
	cmd.Env = env
	output, err := cmd.Output()
	if err != nil {
		return nil, failed("listing the program's packages", nil, err)
	}
	s := &source{files: token.NewFileSet(), packages: map[string]*sourcePackage{}, known: map[frame]runfile.Frame{}}
	for d := json.NewDecoder(bytes.NewReader(output)); ; {
		p := new(sourcePackage)
		if err := d.Decode(p); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		s.packages[p.ImportPath] = p
	}
	s.imports = importer.ForCompiler(s.files, "gc", s.export)
	return s, nil
}

// export opens the export data of a package.
func (s *source) export(importPath string) (io.ReadCloser, error) {
	p := s.packages[importPath]
	if p == nil || p.Export == "" {
		return nil, fmt.Errorf("%s has no export data", importPath)
	}
	return os.Open(p.Export)
}

// load parses and type-checks a package. After an error it uses the information that it has. A line that
// cannot be resolved is reported and never declassified.
func (s *source) load(importPath string) *sourcePackage {
	p := s.packages[importPath]
	if p == nil || p.info != nil {
		return p
	}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(s.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err == nil {
			p.syntax = append(p.syntax, file)
		}
	}
	config := types.Config{Importer: packageImporter{s.imports, p.ImportMap}, FakeImportC: true, Error: func(error) {}}
	_, _ = config.Check(importPath, s.files, p.syntax, p.info)
	return p
}

// A packageImporter imports on behalf of one package, because vendored packages have other import paths.
type packageImporter struct {
	types.Importer
	paths map[string]string
}

func (i packageImporter) Import(importPath string) (*types.Package, error) {
	if mapped, ok := i.paths[importPath]; ok {
		importPath = mapped
	}
	return i.Importer.Import(importPath)
}

// moduleVersion matches the version in the path of a module's source. The import path does not have it.
var moduleVersion = regexp.MustCompile(`@[^/]+`)

// frame returns a frame with the text of its line, its declared function, and the functions whose result
// alone decides the branch. The declared function differs from the given one if the compiler inlined it.
func (s *source) frame(at frame) runfile.Frame {
	f := runfile.Frame{Function: at.Function, Line: at.Line}
	if at.File == "" {
		return f
	}
	importPath := moduleVersion.ReplaceAllString(strings.TrimPrefix(at.Dir, "./"), "")
	f.File = path.Join(importPath, at.File)
	if s == nil || s.packages[importPath] == nil {
		return f
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.known[at]; ok {
		return known
	}
	p := s.load(importPath)
	f.Text = lineOf(filepath.Join(p.Dir, at.File), at.Line)
	if declared := s.declaredAt(p, at.File, at.Line); declared != nil {
		f.Function = importPath + "." + nameOf(declared)
		f.Tests = s.tested(p, declared, conditionAt(s.files, declared, at.Line), maxPassed)
	}
	s.known[at] = f
	return f
}

// lineOf returns the text of a line of a file, or "" if it cannot be read.
func lineOf(path string, line int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	lines := strings.Split(string(text), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[line-1])
}

// declaredAt returns the package's function that contains a line, or nil.
func (s *source) declaredAt(p *sourcePackage, file string, line int) *ast.FuncDecl {
	for _, syntax := range p.syntax {
		if filepath.Base(s.files.Position(syntax.Pos()).Filename) != file {
			continue
		}
		for _, d := range syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && spans(s.files, f, line) {
				return f
			}
		}
	}
	return nil
}

func spans(files *token.FileSet, n ast.Node, line int) bool {
	return files.Position(n.Pos()).Line <= line && line <= files.Position(n.End()).Line
}

// nameOf returns the name of a declared function as in stacks, without package and type parameters.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	t, pointer := f.Recv.List[0].Type, ""
	if star, ok := t.(*ast.StarExpr); ok {
		t, pointer = star.X, "*"
	}
	switch generic := t.(type) {
	case *ast.IndexExpr:
		t = generic.X
	case *ast.IndexListExpr:
		t = generic.X
	}
	if pointer != "" {
		return fmt.Sprintf("(*%s).%s", types.ExprString(t), f.Name.Name)
	}
	return types.ExprString(t) + "." + f.Name.Name
}

// conditionAt returns the innermost condition or result on a line of a function, or nil.
func conditionAt(files *token.FileSet, f *ast.FuncDecl, line int) ast.Expr {
	var found ast.Expr
	ast.Inspect(f, func(n ast.Node) bool {
		var e ast.Expr
		switch n := n.(type) {
		case *ast.IfStmt:
			e = n.Cond
		case *ast.ForStmt:
			e = n.Cond
		case *ast.ReturnStmt:
			if len(n.Results) == 1 {
				e = n.Results[0]
			}
		}
		if e != nil && spans(files, e, line) {
			found = e
		}
		return true
	})
	return found
}

// maxPassed limits how many functions a result is followed through, so that recursion ends.
const maxPassed = 8

// tested returns the functions whose result alone determines the value of an expression: the function that
// it calls, and the functions whose result that one returns. in is the function that contains the
// expression.
func (s *source) tested(p *sourcePackage, in *ast.FuncDecl, e ast.Expr, depth int) []string {
	if depth == 0 {
		return nil
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if value := assigned(p, in, p.info.Uses[e]); value != nil {
			return s.tested(p, in, value, depth-1)
		}
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return s.tested(p, in, e.X, depth)
		}
	case *ast.BinaryExpr:
		if (e.Op == token.EQL || e.Op == token.NEQ) && p.info.Types[e.Y].Value != nil {
			return s.tested(p, in, e.X, depth)
		}
	case *ast.CallExpr:
		if f := called(p, e); f != nil {
			return s.passedOn(f, depth-1)
		}
	}
	return nil
}

// assigned returns the value of a local variable that is assigned exactly once, or nil.
func assigned(p *sourcePackage, in *ast.FuncDecl, variable types.Object) ast.Expr {
	if variable == nil {
		return nil
	}
	var value ast.Expr
	times := 0
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if name, ok := n.X.(*ast.Ident); ok && n.Op == token.AND && p.info.Uses[name] == variable {
				times += 2 // it may change elsewhere
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				name, ok := left.(*ast.Ident)
				if !ok || p.info.Defs[name] != variable && p.info.Uses[name] != variable {
					continue
				}
				times++
				if len(n.Rhs) == len(n.Lhs) && (n.Tok == token.DEFINE || n.Tok == token.ASSIGN) {
					value = n.Rhs[i]
				} else {
					value = nil
				}
			}
		}
		return true
	})
	if times != 1 {
		return nil
	}
	return value
}

// called returns the declared function that an expression calls, or nil.
func called(p *sourcePackage, call *ast.CallExpr) *types.Func {
	var name *ast.Ident
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		name = fun
	case *ast.SelectorExpr:
		name = fun.Sel
	}
	f, _ := p.info.Uses[name].(*types.Func)
	if f == nil || f.Pkg() == nil {
		return nil
	}
	return f
}

// passedOn returns the name of a function. If all its results are constants or come from the same
// functions, passedOn adds their names.
func (s *source) passedOn(f *types.Func, depth int) []string {
	name := shortName(f)
	names := []string{f.Pkg().Path() + "." + name}
	p := s.load(f.Pkg().Path())
	if p == nil {
		return names
	}
	var from []string
	for _, syntax := range p.syntax {
		for _, d := range syntax.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil && nameOf(decl) == name {
				from = s.results(p, decl, depth)
			}
		}
	}
	return append(names, from...)
}

// shortName returns a function's name in the form of nameOf.
func shortName(f *types.Func) string {
	receiver := f.Signature().Recv()
	if receiver == nil {
		return f.Name()
	}
	t, form := receiver.Type(), "%s.%s"
	if pointer, ok := t.(*types.Pointer); ok {
		t, form = pointer.Elem(), "(*%s).%s"
	}
	if named, ok := t.(*types.Named); ok {
		return fmt.Sprintf(form, named.Obj().Name(), f.Name())
	}
	return f.Name()
}

// results returns the functions from which every result of a function comes, or nil. It
// ignores constants: the branches that choose a constant are reported themselves.
func (s *source) results(p *sourcePackage, f *ast.FuncDecl, depth int) []string {
	var common []string
	seen := false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if _, inner := n.(*ast.FuncLit); inner {
			return false
		}
		r, ok := n.(*ast.ReturnStmt)
		if !ok || len(r.Results) == 1 && p.info.Types[r.Results[0]].Value != nil {
			return true
		}
		var from []string
		if len(r.Results) == 1 {
			from = s.tested(p, f, r.Results[0], depth)
		}
		if !seen {
			common, seen = from, true
		}
		common = slices.DeleteFunc(common, func(name string) bool { return !slices.Contains(from, name) })
		return true
	})
	return common
}
