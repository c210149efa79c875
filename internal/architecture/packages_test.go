package architecture

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
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

// packages lists the packages of this module.
func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports,Module", module+"/...")
	out, err := cmd.Output()
	require.NoError(t, err, "go list: %s", stderr(err))
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		all = append(all, p)
	}
	require.NotEmpty(t, all)
	return all
}

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
