package mutate

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

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
			if last(fn.Type) == "Design" {
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

// isOutside reports whether a function makes tokens, parses them without
// judging, or states the claims of a design.
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
