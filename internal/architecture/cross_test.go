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

// A listed package is one of go list -deps -test: its imports stand above it.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
}

// typeErrors checks the types of all packages below a folder and of their tests for
// a platform, from source, and returns the first errors. It needs no compiled
// package, so that it is much cheaper than go vet. Functions of other modules are
// left out.
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

// An importer returns packages that were checked before.
type importer func(path string) *types.Package

func (i importer) Import(path string) (*types.Package, error) {
	if p := i(path); p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no package %q", path)
}

// TestTypesOfAnotherPlatform meets a call that Windows does not have, in a package
// and in a test.
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

// TestTypesOfReleasePlatforms checks every package for the platforms of the release
// other than Linux.
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
