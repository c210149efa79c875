package attack

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/attack/cve"
	"sealab/internal/cli"
)

// TestCVEJournal continues a run from its journal, whose last line may be
// truncated. The outcomes of another run must be ignored.
func TestCVEJournal(t *testing.T) {
	cases := cve.Cases()[:2]
	bench := cve.Bench{Root: t.TempDir(), Seed: 1, Budget: time.Second} // has nothing installed
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	open := func(bench cve.Bench, known int) *cveJournal {
		j, err := openCVEJournal(path, bench)
		require.NoError(t, err)
		require.Len(t, j.known, known)
		return j
	}
	j := open(bench, 0)
	require.NoError(t, j.keep(cve.Outcome{Case: cases[0], Found: []string{"KEY-01"}, Seconds: 1.5}))
	require.NoError(t, j.close())
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(whole, whole[:len(whole)/2]...), 0o600))

	j = open(bench, 1)
	all, untested, err := attackCases(bench, cases, j, io.Discard)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, cases[0].CVE, all[0].CVE)
	require.Len(t, untested, 1)
	require.NoError(t, j.keep(cve.Outcome{Case: cases[1]}))
	require.NoError(t, j.close())

	require.NoError(t, open(bench, 2).close(), "the cut line costs no other")
	other := bench
	other.Seed = 2
	require.NoError(t, open(other, 0).close())

	foreign := filepath.Join(t.TempDir(), "notes.txt")
	require.NoError(t, os.WriteFile(foreign, []byte("a text of a person\n"), 0o600))
	path = foreign
	_, err = openCVEJournal(path, bench)
	require.ErrorContains(t, err, "notes.txt:1: not an entry of a journal")

	var page bytes.Buffer
	require.NoError(t, cve.Write(&page, all, untested))
	require.Contains(t, page.String(), "1 of 1 vulnerabilities found.")
	require.Contains(t, page.String(), "not tested: "+cases[1].CVE)
}

// TestCVEQuestions checks the outcomes that cause exit status 1: not found, and
// the fixed version falls.
func TestCVEQuestions(t *testing.T) {
	var asked cli.Outcomes
	known := cve.Cases()[0]
	askCVEs(&asked, []cve.Outcome{{Case: known}, {Case: known, Found: []string{"TAG-01"}}, {Case: known, Found: []string{"TAG-01"}, Fixed: []string{"TAG-02"}}})
	var counts []bool
	for _, q := range asked.Questions {
		counts = append(counts, q.Counts)
	}
	require.Equal(t, []bool{true, false, true}, counts)
}
