package campaign

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestJournalResumes checks that only an incomplete last record is removed.
func TestJournalResumes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "journal.jsonl")
	j, notice, err := openJournal(path)
	require.NoError(t, err)
	require.Empty(t, notice)
	first := Record{Time: noon, Event: EventProgress, Target: "text", Executions: 12, Seconds: 1.5, Coverage: 7, New: 2, Corpus: 9}
	require.NoError(t, j.append(first))
	require.NoError(t, j.close())

	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = file.WriteString(`{"time":"2026-`)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	j, notice, err = openJournal(path)
	require.NoError(t, err)
	require.Contains(t, notice, "an incomplete last record of 14 bytes")
	second := Record{Time: noon.Add(time.Minute), Event: eventStop}
	require.NoError(t, j.append(second))
	require.NoError(t, j.close())
	records, notices, err := ReadJournal(dir)
	require.NoError(t, err)
	require.Empty(t, notices)
	require.Equal(t, []Record{first, second}, records)
}

// TestJournalDamaged checks that a damaged line is named and the others are kept.
func TestJournalDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "journal.jsonl")
	require.NoError(t, os.WriteFile(path, []byte("{\"event\":\"start\"}\n\x00\x00\x00\n{\"event\":\"stop\"}\n{\"ev"), 0o644))
	records, notices, err := ReadJournal(dir)
	require.NoError(t, err)
	require.Len(t, records, 2)
	require.Equal(t, []string{path + ":2: want a record of the journal, as JSON"}, notices)
}

// TestJournalFullDisk checks that a write error of the system is returned.
func TestJournalFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		testenv.Skip(t, "no /dev/full here")
	}
	require.NoError(t, err)
	j := journal{file: full}
	require.ErrorContains(t, j.append(Record{Event: eventStart}), "writing the journal: write /dev/full: no space left on device")
	require.Zero(t, j.size)
	require.NoError(t, full.Close())
}
