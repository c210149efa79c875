package mutate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"sealab/codecs/catalog"
	"sealab/internal/gobuild"
)

// Import paths of this module that the build needs.
const (
	module   = "sealab"
	contract = module + "/codecs"
	switches = module + "/internal/mutant"
	judge    = module + "/vectors/mutate/judge"
)

// Build is a program that runs the vectors with one check disabled.
type Build struct {
	Checks  []Check
	Program string // path
}

// Prepare finds the checks of the module at root and builds the program into
// dir, which must exist.
func Prepare(root, dir string) (*Build, error) {
	if err := gobuild.Check(context.Background(), root); err != nil {
		return nil, err
	}
	files, err := sources(root)
	if err != nil {
		return nil, err
	}
	b := &Build{Checks: find(files), Program: filepath.Join(dir, "judge")}
	if len(b.Checks) == 0 {
		return nil, errors.New("found no check in the designs")
	}
	list, err := b.overlay(files, dir)
	if err != nil {
		return nil, err
	}
	_, err = run(root, "go", "build", "-overlay", list, "-o", b.Program, judge)
	return b, err
}

// sources parses the packages of the catalog's designs and the packages that
// they import. It omits the contract, which does not judge tokens.
func sources(root string) ([]*sourceFile, error) {
	out, err := run(root, "go", append([]string{"list", "-deps", "-json=ImportPath,Dir,GoFiles"}, homes()...)...)
	if err != nil {
		return nil, err
	}
	var files []*sourceFile
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p struct {
			ImportPath, Dir string
			GoFiles         []string
		}
		if err := d.Decode(&p); err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if !strings.HasPrefix(p.ImportPath, contract+"/") {
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

// homes returns the packages that declare the designs' constructors.
func homes() []string {
	var paths []string
	for _, d := range catalog.Formats() {
		constructor := reflect.ValueOf(d.NewCodec)
		if d.IsScheme() {
			constructor = reflect.ValueOf(d.NewScheme)
		}
		name := runtime.FuncForPC(constructor.Pointer()).Name() // "sealab/codecs/x.f.func1"
		slash := strings.LastIndexByte(name, '/') + 1
		pkg, _, _ := strings.Cut(name[slash:], ".")
		paths = append(paths, name[:slash]+pkg)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
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
	return gobuild.Overlay(dir, rewritten)
}

// rewrite returns a file with each check behind its switch and its line numbers
// unchanged. It returns nil if the file has no check.
func (b *Build) rewrite(f *sourceFile) []byte {
	type insertion struct {
		at   int
		text string
	}
	var in []insertion
	for _, c := range b.Checks {
		if c.File == f.name {
			in = append(in, insertion{c.from, fmt.Sprintf("mutant.%s(%d, ", c.switched, c.N)}, insertion{c.to, ")"})
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

// run runs a command in dir and returns its output.
func run(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%s %s: %w: %s", name, args[0], err, exit.Stderr)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}
