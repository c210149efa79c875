package campaign

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReport(t *testing.T) {
	dir := shown(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, CoverTable), []byte("package 50.0 %\n"), 0o644))
	stamp := Stamp{Commit: "0123456789", Host: "h1", Toolchain: "go1.26", Processor: "a processor", Cores: 2}
	r, err := ReadReport(dir, stamp)
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "results", "fuzz-1")
	require.NoError(t, r.Write(out))

	page := read(t, filepath.Join(out, "report.md"))
	require.Contains(t, page, "Commit 0123456789, dirty false, host h1, go1.26, a processor, 2 cores.")
	require.Contains(t, page, "| [text](pictures/text.svg) | 300000 | 1000 | 5m0s | 140 | 0 | 10 | 3m0s | 1 |\n")
	require.Contains(t, page, "| all | 300000 | 1000 | 5m0s | | | | | 1 |\n")
	require.Contains(t, page, "- text `panic-0123456789`: ")
	require.Contains(t, page, "package 50.0 %")
	require.Contains(t, read(t, filepath.Join(out, "pictures", "text.svg")), "<polyline")
	var got Report
	require.NoError(t, json.Unmarshal([]byte(read(t, filepath.Join(out, "report.json"))), &got))
	require.Equal(t, stamp, got.Stamp)
	require.Len(t, got.Targets[0].Curve, 5)
	require.Equal(t, CurvePart{60, 60_000, 100}, got.Targets[0].Curve[0])

	require.ErrorContains(t, r.Write(out), "never overwritten")
	entries, err := os.ReadDir(filepath.Dir(out))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing half-written lies beside it")
}

// TestReportOfNothing refuses a campaign that ran nothing.
func TestReportOfNothing(t *testing.T) {
	f := folder(t.TempDir())
	_, err := f.claim(Config{Package: "p", Targets: []Target{{Name: "text", Native: "FuzzText"}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(f.journal(), nil, 0o644))
	_, err = ReadReport(string(f), Stamp{})
	require.ErrorContains(t, err, "ran nothing")
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

// TestCondition says in words why a crasher that was filed without a reason may
// not be seen again.
func TestCondition(t *testing.T) {
	require.Empty(t, Crasher{Alone: true}.Condition())
	require.Equal(t, ", fails after what is in history/: 3", Crasher{After: 3}.Condition())
	require.Equal(t, ", does not fail again: it holds alone", Crasher{Unexplained: "it holds alone"}.Condition())
	require.Contains(t, Crasher{}.Condition(), "a campaign before histories and reasons were kept")
}
