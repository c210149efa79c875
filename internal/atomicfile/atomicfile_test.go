package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/atomicfile"
)

func TestWriteReplacesWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, atomicfile.Write(path, []byte("one")))
	require.NoError(t, atomicfile.Write(path, []byte("two")))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "two", string(got))
	requireAlone(t, path)
}

func TestFailedWriteLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "taken")
	require.NoError(t, os.MkdirAll(filepath.Join(path, "full"), 0o755))
	require.Error(t, atomicfile.Write(path, []byte("x")))
	require.DirExists(t, filepath.Join(path, "full"))
	requireAlone(t, path)
}

// requireAlone fails when anything but path is in its folder.
func requireAlone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, filepath.Base(path), entries[0].Name())
}
