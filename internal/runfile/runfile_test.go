package runfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/runfile"
)

var subjects = []runfile.Subject{{Name: "a", Role: runfile.RoleDesign, Kind: runfile.Signs}}

func TestWriteThenRead(t *testing.T) {
	root := filepath.Join(t.TempDir(), "results")
	dir, err := runfile.Write(root, "run", []byte("text"), subjects)
	require.NoError(t, err)
	got, err := runfile.ReadSubjects(dir)
	require.NoError(t, err)
	require.Equal(t, subjects, got)
	require.FileExists(t, filepath.Join(dir, runfile.BenchFile))
}

// TestResultsAreAppendOnly writes a run twice: the first stays, and nothing
// half-written lies beside it.
func TestResultsAreAppendOnly(t *testing.T) {
	root := t.TempDir()
	dir, err := runfile.Write(root, "run", []byte("first"), subjects)
	require.NoError(t, err)
	_, err = runfile.Write(root, "run", []byte("second"), subjects)
	require.ErrorContains(t, err, "never overwritten")
	text, err := os.ReadFile(filepath.Join(dir, runfile.BenchFile))
	require.NoError(t, err)
	require.Equal(t, "first", string(text))
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

func TestReadSubjectsRefuses(t *testing.T) {
	dir := t.TempDir()
	_, err := runfile.ReadSubjects(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
	for _, text := range []string{"", "{}", "[]"} {
		path := filepath.Join(dir, runfile.SubjectsFile)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := runfile.ReadSubjects(dir)
		require.ErrorContains(t, err, path, "%q", text)
	}
}

func TestParseOp(t *testing.T) {
	for _, op := range runfile.Ops() {
		got, err := runfile.ParseOp(string(op))
		require.NoError(t, err)
		require.Equal(t, op, got)
	}
	_, err := runfile.ParseOp("sael")
	require.ErrorContains(t, err, "sael")
}
