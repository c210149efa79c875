package architecture

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/command"
)

// module is the path of this module.
const module = "sealab"

// pkg is what these tests ask of go list.
type pkg struct {
	ImportPath, Dir string
	Imports         []string
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

var listedPackages = sync.OnceValues(func() ([]pkg, error) {
	return command.GoList[pkg](context.Background(), "", "-json=ImportPath,Dir,Imports", module+"/...")
})

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
