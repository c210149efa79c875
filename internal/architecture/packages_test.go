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

// pkg is an element of the output of go list.
type pkg struct {
	ImportPath, Dir string
	Imports         []string
}

// folder returns the path of the package relative to the module's root.
func (p pkg) folder() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// packages returns the packages of this module. They are listed only once.
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

// own returns the imports from this module, as folders.
func own(imports []string) []string {
	var in []string
	for _, path := range imports {
		if folder, ok := strings.CutPrefix(path, module+"/"); ok {
			in = append(in, folder)
		}
	}
	return in
}
