package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign"
)

func TestReport(t *testing.T) {
	dir := example(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, campaign.CoverTable), []byte("package 50.0 %\n"), 0o644))
	stamp := Stamp{Commit: "0123456789", Host: "h1", Toolchain: "go1.26", Processor: "a processor", Cores: 2}
	r, err := Read(dir, stamp)
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "results", "fuzz-1")
	require.NoError(t, r.Write(out))

	page := read(t, filepath.Join(out, "report.md"))
	require.Contains(t, page, "Commit 0123456789, dirty false, host h1, go1.26, a processor, 2 cores.")
	require.Contains(t, page, "| [text](pictures/text.svg) | 300000 | 1000 | 5m0s | 140 | 0 | 10 | 3m0s | 2 |\n")
	require.Contains(t, page, "| all | 300000 | 1000 | 5m0s | | | | | 2 |\n")
	require.Contains(t, page, "- `panic-0123456789`: ")
	require.Contains(t, page, "package 50.0 %")
	require.Contains(t, read(t, filepath.Join(out, "pictures", "text.svg")), "<polyline")
	var got Report
	require.NoError(t, json.Unmarshal([]byte(read(t, filepath.Join(out, "report.json"))), &got))
	require.Equal(t, stamp, got.Stamp)
	require.Len(t, got.Status.Targets[0].Curve, 5)
	require.Equal(t, Point{60, 60_000, 100}, got.Status.Targets[0].Curve[0])

	require.ErrorContains(t, r.Write(out), "never overwritten")
	entries, err := os.ReadDir(filepath.Dir(out))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing half-written lies beside it")
}

// TestReportOfNothing checks that a campaign without executions is refused.
func TestReportOfNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "campaign.json"), campaign.Manifest{Package: "p", Targets: []campaign.Target{{Name: "text", Native: "FuzzText"}}})
	_, err := Read(dir, Stamp{})
	require.ErrorContains(t, err, "has no executions")
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

// TestTable checks that every crasher is shown, with the message first and all control
// characters escaped, for a folder with brackets in its name.
func TestTable(t *testing.T) {
	dir := example(t)
	s, err := ReadStatus(dir)
	require.NoError(t, err)
	var table strings.Builder
	require.NoError(t, s.WriteTable(&table, now()))
	for _, r := range table.String() {
		require.True(t, r == '\n' || unicode.IsPrint(r), "%q", r)
	}
	crashers := filepath.Join(dir, "crashers", "text")
	require.Contains(t, table.String(), "\na check fails\n  bucket error-9876543210\n  text: 5 bytes, incomplete; "+crashers+"/error-9876543210\n")
	require.Contains(t, table.String(), `marked up'</script> \x1b]0;title\a\x1b[2J\x00`+"\n  bucket panic-0123456789, in a, b\n  text: 5 bytes, minimized to 1; "+crashers)
	require.Contains(t, table.String(), "2 crash buckets, 1 crashers incomplete\n")
}

// TestTableFitsTerminal formats three days of the target with the longest name.
func TestTableFitsTerminal(t *testing.T) {
	days := 72 * time.Hour
	s := Status{Targets: []TargetStatus{{Target: campaign.Target{Name: "primitives"}, Executions: 9_999_999_999, Seconds: days.Seconds(),
		Coverage: 12345, Corpus: 12345, New: 12345, LastNew: noon.Add(-days)}}}
	var table strings.Builder
	require.NoError(t, s.WriteTable(&table, noon))
	require.Contains(t, table.String(), " newest ")
	for line := range strings.Lines(table.String()) {
		require.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 80, line)
	}
}

// TestBucketsJoinTargets checks that one cause in two targets is shown once.
func TestBucketsJoinTargets(t *testing.T) {
	found := func(target, bucket string, design string) TargetStatus {
		k := campaign.FoundCrasher{Crasher: campaign.Crasher{Target: target, Bucket: bucket}, Designs: []string{design}}
		return TargetStatus{Target: campaign.Target{Name: target}, Crashers: []campaign.FoundCrasher{k}}
	}
	s := Status{Targets: []TargetStatus{found("text", "error-1", "b"), found("inside", "error-1", "a"), found("json", "error-2", "a")}}
	buckets := s.Buckets()
	require.Len(t, buckets, 2)
	require.Len(t, buckets[0].Crashers, 2)
	require.Equal(t, []string{"a", "b"}, buckets[0].Designs)
}
