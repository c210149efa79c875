package campaign

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/atomicfile"
)

// TestProfileTable has one line for each package, also where the files of one
// stand between those of its subfolders.
func TestProfileTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "profile")
	require.NoError(t, atomicfile.Write(path, []byte("mode: atomic\nm/a/a.go:1.1,2.2 3 1\nm/a/b/b.go:1.1,2.2 1 0\nm/a/c.go:1.1,2.2 1 0\nm/a/c.go:1.1,2.2 1 2\nm/main/x.go:1.1,2.2 1 1\n")))
	p := Profile{blocks: map[string]*block{}}
	require.NoError(t, p.add(path, "m/main"))
	var table strings.Builder
	require.NoError(t, p.WriteTable(&table))
	require.Equal(t, "m/a  100.0 %  4 of 4 statements\nskipped: m/a/b\n", table.String())
	require.NoError(t, atomicfile.Write(path, []byte("mode: atomic\nnonsense\n")))
	require.ErrorContains(t, p.add(path, "m/main"), path+":2: want a position, statements and a count")
}
