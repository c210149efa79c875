package architecture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the path of this module.
const module = "sealab"

// pkg is what these tests ask of go list.
type pkg struct {
	ImportPath, Dir string
	GoFiles         []string
	Imports         []string
	TestImports     []string
	XTestImports    []string
	Module          *struct{ Path string }
}

// folder is the path of the package below the module's root.
func (p pkg) folder() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// packages returns the packages of this module, which are listed once.
func packages(t *testing.T) []pkg {
	t.Helper()
	all, err := listedPackages()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

var listedPackages = sync.OnceValues(func() (all []pkg, err error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports,Module", module+"/...")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr(err))
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading go list: %w", err)
		}
		all = append(all, p)
	}
})

func stderr(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(exit.Stderr)
	}
	return ""
}

// own returns the imports that lie in this module, as folders.
func own(imports []string) []string {
	var in []string
	for _, path := range imports {
		if folder, ok := strings.CutPrefix(path, module+"/"); ok {
			in = append(in, folder)
		}
	}
	return in
}
