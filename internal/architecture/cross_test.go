package architecture

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/command"
	"sealab/internal/testenv"
)

var cross = flag.Bool("cross", false, "check the types of every package and test for the platforms of the release; takes a minute")

// A listed package is an element of the output of go list -deps -test. Its imports precede it.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
}

// typeErrors type-checks all packages and tests below a folder for a platform, from source, and returns
// the first errors. It compiles no packages and so is much faster than go vet. It ignores function bodies
// of other modules.
func typeErrors(t *testing.T, folder, goos, goarch string) []error {
	t.Helper()
	t.Setenv("GOOS", goos)
	t.Setenv("GOARCH", goarch)
	t.Setenv("CGO_ENABLED", "0")
	all, err := command.GoList[listed](t.Context(), folder, "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "./...")
	require.NoError(t, err)
	fset, done, own := token.NewFileSet(), map[string]*types.Package{"unsafe": types.Unsafe}, 0
	var faults []error
	for _, p := range all {
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		main := p.Module != nil && p.Module.Main
		if main {
			own++
		}
		files := make([]*ast.File, len(p.GoFiles))
		for i, name := range p.GoFiles {
			files[i], err = parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
		}
		config := types.Config{
			IgnoreFuncBodies: !main, Sizes: types.SizesFor("gc", goarch),
			Importer: importer(func(path string) *types.Package { return done[cmp.Or(p.ImportMap[path], path)] }),
			Error: func(err error) {
				if main && len(faults) < 10 {
					faults = append(faults, fmt.Errorf("%s/%s: %w", goos, goarch, err))
				}
			},
		}
		done[p.ImportPath], _ = config.Check(p.ImportPath, fset, files, nil) //nolint:errcheck // config.Error has them
	}
	require.Positive(t, own, "there is no package")
	return faults
}

// An importer returns packages that are already checked.
type importer func(path string) *types.Package

func (i importer) Import(path string) (*types.Package, error) {
	if p := i(path); p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no package %q", path)
}

// TestTypesOfAnotherPlatform checks that a call missing on Windows is found, in a package and in a test.
func TestTypesOfAnotherPlatform(t *testing.T) {
	testenv.SkipSample(t)
	folder := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	write("go.mod", "module probe\n\ngo 1.26\n")
	write("probe.go", "package probe\n\nimport \"syscall\"\n\nvar Page = syscall.Getpagesize()\n")
	require.Empty(t, typeErrors(t, folder, "windows", "arm64"))
	write("probe_test.go", "package probe\n\nimport \"syscall\"\n\nfunc stop() error { return syscall.Kill(Page, 9) }\n")
	require.Empty(t, typeErrors(t, folder, "linux", "amd64"))
	require.ErrorContains(t, typeErrors(t, folder, "windows", "amd64")[0], "windows/amd64: "+filepath.Join(folder, "probe_test.go")+":5:36: undefined: syscall.Kill")
	write("probe.go", "package probe\n\nimport \"syscall\"\n\nvar Page = syscall.Getppid() + int(syscall.SIGUSR1)\n")
	require.NotEmpty(t, typeErrors(t, folder, "windows", "arm64"))
}

// TestTypesOfReleasePlatforms checks every package for the release platforms other than Linux.
func TestTypesOfReleasePlatforms(t *testing.T) {
	if !*cross {
		testenv.Skip(t, "it takes a minute: make cross runs it")
	}
	for _, goos := range []string{"windows", "darwin", "freebsd"} {
		for _, goarch := range []string{"amd64", "arm64"} {
			t.Run(goos+"/"+goarch, func(t *testing.T) { require.Empty(t, typeErrors(t, filepath.Join("..", ".."), goos, goarch)) })
		}
	}
}
