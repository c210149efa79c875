package runfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/internal/runfile"
)

var subjects = []runfile.Subject{{Name: "a", Role: runfile.RoleDesign, Kind: runfile.Signs}}

func TestBenchIsReadBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results", "bench", "run")
	require.NoError(t, runfile.WriteBench(dir, []byte("text"), []byte("report"), subjects))
	got, err := runfile.ReadSubjects(dir)
	require.NoError(t, err)
	require.Equal(t, subjects, got)
	require.FileExists(t, filepath.Join(dir, runfile.BenchFile))
}

// TestRunsAreNeverOverwritten writes a run twice. The first run stays, and no part of the second is left
// beside it.
func TestRunsAreNeverOverwritten(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "run")
	require.NoError(t, runfile.WriteBench(dir, []byte("first"), nil, subjects))
	require.ErrorContains(t, runfile.WriteBench(dir, []byte("second"), nil, subjects), "never overwritten")
	text, err := os.ReadFile(filepath.Join(dir, runfile.BenchFile))
	require.NoError(t, err)
	require.Equal(t, "first", string(text))
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// TestOlderNames reads roles and names from before baselines were renamed.
func TestOlderNames(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, runfile.SubjectsFile),
		[]byte(`[{"name":"floor-x","role":"floor"},{"name":"y","role":"peer"},{"name":"z","role":"foreign"},{"name":"d","role":"design"}]`), 0o644))
	got, err := runfile.ReadSubjects(dir)
	require.NoError(t, err)
	require.Equal(t, []runfile.Subject{
		{Name: "baseline-x", Role: runfile.RoleBaseline}, {Name: "y", Role: runfile.RoleLibrary},
		{Name: "z", Role: runfile.RoleSDK}, {Name: "d", Role: runfile.RoleDesign},
	}, got)
}

func TestRunsAreFound(t *testing.T) {
	root := t.TempDir()
	older := runfile.Stamp{Time: time.Date(2026, 11, 20, 1, 2, 3, 0, time.UTC), Commit: "0123456789abcdef"}
	newer := runfile.Stamp{Time: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), Commit: runfile.Unknown, Dirty: true}
	require.Equal(t, filepath.Join(root, "bench", "20261120T010203Z-0123456789"), older.Dir(root, runfile.Bench))
	require.Equal(t, filepath.Join(root, "bench", "20261121T000000Z-unknown-dirty"), newer.Dir(root, runfile.Bench))
	for _, s := range []runfile.Stamp{newer, older} {
		require.NoError(t, runfile.WriteBench(s.Dir(root, runfile.Bench), nil, nil, subjects))
	}
	for _, other := range []string{"bench/empty", "bench/.half", "attack/20261120T010203Z-0123456789"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.FromSlash(other)), 0o755))
	}
	runs, err := runfile.Runs(root, runfile.Bench)
	require.NoError(t, err)
	require.Equal(t, []string{older.Dir(root, runfile.Bench), newer.Dir(root, runfile.Bench)}, runs)
	runs, err = runfile.Newest(root, runfile.Bench, 1)
	require.NoError(t, err)
	require.Equal(t, []string{newer.Dir(root, runfile.Bench)}, runs)
	_, err = runfile.Newest(root, runfile.Bench, 3)
	require.ErrorContains(t, err, "want 3 runs in ")
	_, err = runfile.Newest(filepath.Join(root, "nowhere"), runfile.Bench, 1)
	require.ErrorContains(t, err, "there is no run in ")
}

func TestHostIsOnePathElement(t *testing.T) {
	_, err := runfile.NewStamp(time.Unix(0, 0), "../elsewhere")
	require.ErrorContains(t, err, "cannot name a host")
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
