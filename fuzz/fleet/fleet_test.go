package fleet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// TestCheckArchive refuses a program that is not the coordinator's.
func TestCheckArchive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.zip")
	write(t, path, "foo")
	const foo = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
	require.NoError(t, CheckArchive(path, foo))
	require.ErrorContains(t, CheckArchive(path, foo[:63]+"f"), "copy the coordinator's archive")
	require.ErrorContains(t, CheckArchive(path, ""), "copy the coordinator's archive")
	require.ErrorContains(t, CheckArchive(path+"x", foo), "archive.zipx")
	w := Worker{Dir: t.TempDir(), Archive: path, SHA256: foo[1:] + "0"}
	require.ErrorContains(t, w.Run(t.Context(), nil), "copy the coordinator's archive")
}

// TestPrepareGoesOn keeps the archive that the workers have, and refuses to make
// a folder that is for something else, or whose archive was changed, its own.
func TestPrepareGoesOn(t *testing.T) {
	dir := t.TempDir()
	write(t, Archive(dir), "foo")
	wanted := Fleet{Target: "text", Function: "FuzzText", Package: "p"}
	sum, err := digest(Archive(dir))
	require.NoError(t, err)
	with := wanted
	with.SHA256 = sum
	require.NoError(t, with.write(dir))
	got, err := Prepare(t.Context(), dir, wanted, nil)
	require.NoError(t, err)
	require.Equal(t, with, got)

	_, err = Prepare(t.Context(), dir, Fleet{Target: "inside", Function: "FuzzInside", Package: "p"}, nil)
	require.ErrorContains(t, err, "fuzzes FuzzText")
	write(t, Archive(dir), "bar")
	_, err = Prepare(t.Context(), dir, wanted, nil)
	require.ErrorContains(t, err, "has SHA-256")
	write(t, filepath.Join(dir, manifestFile), "{")
	_, err = Prepare(t.Context(), dir, wanted, nil)
	require.ErrorContains(t, err, "want what a fleet fuzzes", "a damaged folder is not made anew")
	_, err = Prepare(t.Context(), t.TempDir(), wanted, nil)
	require.ErrorContains(t, err, "text has no seeds")
}

func TestFound(t *testing.T) {
	dir := t.TempDir()
	inputs, crashers, err := Found(dir)
	require.NoError(t, err)
	require.Empty(t, inputs)
	require.Empty(t, crashers)
	const name = "0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33"
	write(t, filepath.Join(Work(dir), "corpus", name+"-1"), "foo")
	write(t, filepath.Join(Work(dir), "crashers", name), "bar")
	write(t, filepath.Join(Work(dir), "crashers", name+".output"), "panic: no")
	write(t, filepath.Join(Work(dir), "crashers", name+".quoted"), `"bar"`)
	inputs, crashers, err = Found(dir)
	require.NoError(t, err)
	require.Equal(t, [][]byte{[]byte("foo")}, inputs)
	require.Equal(t, []Crasher{{Input: []byte("bar"), Output: "panic: no"}}, crashers)
}
