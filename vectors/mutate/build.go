package mutate

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sealab/internal/command"
)

// Import paths of this module that the build needs.
const (
	module   = "sealab"
	contract = module + "/codecs"
	rows     = contract + "/catalog"
	switches = module + "/internal/mutant"
	judge    = module + "/vectors/mutate/judge"
)

// Build is a program that runs the vectors with one check disabled.
type Build struct {
	Checks  []Check
	Program string // path
}

// Prepare finds the checks of the module at root and builds the program into
// dir, which must exist. If folders are given, it keeps the checks of their files.
func Prepare(ctx context.Context, root, dir string, folders ...string) (*Build, error) {
	if err := command.CheckGo(ctx, root); err != nil {
		return nil, err
	}
	files, err := sources(ctx, root)
	if err != nil {
		return nil, err
	}
	checks := find(files)
	if len(folders) > 0 {
		checks = slices.DeleteFunc(checks, func(c Check) bool { return !slices.Contains(folders, path.Dir(c.File)) })
	}
	if len(checks) == 0 {
		return nil, fmt.Errorf("found no check in the designs, in folders %q", folders)
	}
	b := &Build{Checks: checks, Program: filepath.Join(dir, "judge")}
	list, err := b.overlay(files, dir)
	if err != nil {
		return nil, err
	}
	_, err = command.GoIn(ctx, root, "build", "-overlay", list, "-o", b.Program, judge)
	return b, err
}

// sources parses the packages that the catalog imports. It omits the contract,
// which does not judge tokens.
func sources(ctx context.Context, root string) ([]*sourceFile, error) {
	type listed struct {
		ImportPath, Dir string
		GoFiles         []string
	}
	packages, err := command.GoList[listed](ctx, root, "-deps", "-json=ImportPath,Dir,GoFiles", rows)
	if err != nil {
		return nil, err
	}
	var files []*sourceFile
	for _, p := range packages {
		if !strings.HasPrefix(p.ImportPath, contract+"/") || p.ImportPath == rows {
			continue
		}
		for _, name := range p.GoFiles {
			f, err := parse(strings.TrimPrefix(p.ImportPath, module+"/")+"/"+name, filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b *sourceFile) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

// overlay writes the rewritten files and the overlay file of the go command. It
// returns the path of the overlay file.
func (b *Build) overlay(files []*sourceFile, dir string) (string, error) {
	rewritten := map[string][]byte{}
	for _, f := range files {
		if text := b.rewrite(f); text != nil {
			rewritten[f.path] = text
		}
	}
	return command.GoOverlay(dir, rewritten)
}

// rewrite returns a file with each check behind its switch and its line numbers
// unchanged. It returns nil if the file has no check.
func (b *Build) rewrite(f *sourceFile) []byte {
	type insertion struct {
		at   int
		text string
	}
	var in []insertion
	for n, c := range b.Checks {
		if c.File == f.name {
			in = append(in, insertion{c.from, fmt.Sprintf("mutant.%s(%d, ", c.switched, n)}, insertion{c.to, ")"})
		}
	}
	if in == nil {
		return nil
	}
	in = append(in, insertion{f.fset.Position(f.file.Name.End()).Offset, fmt.Sprintf("; import %q", switches)})
	slices.SortStableFunc(in, func(a, b insertion) int { return cmp.Compare(a.at, b.at) })
	var out []byte
	done := 0
	for _, i := range in {
		out = append(append(out, f.text[done:i.at]...), i.text...)
		done = i.at
	}
	return append(out, f.text[done:]...)
}
