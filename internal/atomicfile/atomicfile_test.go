package atomicfile_test

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/atomicfile"
	"sealab/internal/testenv"
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

func TestLinksAndDevicesStay(t *testing.T) {
	dir := t.TempDir()
	file, link, device := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "device")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o644))
	if err := os.Symlink(file, link); err != nil {
		testenv.Skip(t, "no symbolic links: %v", err)
	}
	require.NoError(t, os.Symlink(os.DevNull, device))
	for _, path := range []string{link, device} {
		require.NoError(t, atomicfile.Write(path, []byte("new")))
		info, err := os.Lstat(path)
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&os.ModeSymlink, path)
	}
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "new", string(got))
	info, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	require.False(t, info.Mode().IsRegular())
}

// requireAlone fails unless path is the only entry of its folder.
func requireAlone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, filepath.Base(path), entries[0].Name())
}

func TestWriteFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results", "run")
	files := map[string][]byte{"page": []byte("text"), "pictures/one": []byte("picture")}
	require.NoError(t, atomicfile.WriteFolder(dir, files))
	requireAlone(t, dir)
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode().Perm())

	require.ErrorContains(t, atomicfile.WriteFolder(dir, map[string][]byte{"other": nil}), "never overwritten")
	require.NoFileExists(t, filepath.Join(dir, "other"))
}

func TestFailedWriteFolderLeavesNothing(t *testing.T) {
	root := t.TempDir()
	files := map[string][]byte{"a": []byte("a file"), "a/b": []byte("in a folder of its name")}
	require.Error(t, atomicfile.WriteFolder(filepath.Join(root, "run"), files))
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// TestReadDecompresses reads a plain file, a compressed file and a damaged file.
func TestReadDecompresses(t *testing.T) {
	dir := t.TempDir()
	text := bytes.Repeat([]byte("line\n"), 1000)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for name, data := range map[string][]byte{"text": text, "text.gz": packed.Bytes(), "named otherwise": packed.Bytes()} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o644))
		got, err := atomicfile.Read(path)
		require.NoError(t, err, name)
		require.Equal(t, text, got, name)
	}
	got, err := atomicfile.Read(filepath.Join(dir, "only packed"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Empty(t, got)
	require.False(t, atomicfile.Exists(filepath.Join(dir, "only packed")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "only packed.gz"), packed.Bytes(), 0o644))
	got, err = atomicfile.Read(filepath.Join(dir, "only packed"))
	require.NoError(t, err)
	require.Equal(t, text, got)
	require.True(t, atomicfile.Exists(filepath.Join(dir, "only packed")))
	for name, data := range map[string][]byte{"short": packed.Bytes()[:20], "no header": {0x1f, 0x8b}} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o644))
		_, err := atomicfile.Read(path)
		require.ErrorContains(t, err, path, name)
	}
	_, err = atomicfile.Read(filepath.Join(dir, "nowhere"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
