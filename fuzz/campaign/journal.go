package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// A Record is one line of the journal.
type Record struct {
	Time   time.Time `json:"time"`
	Event  Event     `json:"event"`
	Target string    `json:"target,omitempty"`

	// For EventProgress, since the previous record.
	Executions int64   `json:"executions,omitempty"`
	Seconds    float64 `json:"seconds,omitempty"` // of one core, summed over workers
	New        int     `json:"new,omitempty"`     // inputs with new coverage

	// For EventProgress, in total.
	Coverage int `json:"coverage,omitempty"` // counter bits of the engine
	Corpus   int `json:"corpus,omitempty"`   // number of inputs, including seeds

	Text string `json:"text,omitempty"` // for the other events
}

// An Event is the kind of a record.
type Event string

// The events of a campaign.
const (
	eventStart    Event = "start"
	EventProgress Event = "progress"
	eventCrasher  Event = "crasher" // Text is the bucket
	EventNotice   Event = "notice"  // a fault after which the campaign continues
	eventStop     Event = "stop"
)

// A journal is the log of a campaign. It is safe for concurrent use.
type journal struct {
	mu   sync.Mutex
	file *os.File
	size int64 // of complete records
}

// openJournal opens the journal at path. If the last record is truncated, it removes that
// record and returns a notice.
func openJournal(path string) (j *journal, notice string, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, "", err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		f.Close()
		return nil, "", err
	}
	j = &journal{file: f, size: int64(bytes.LastIndexByte(data, '\n') + 1)}
	if torn := int64(len(data)) - j.size; torn > 0 {
		notice = fmt.Sprintf("%s: removed an incomplete last record of %d bytes", path, torn)
		if err := f.Truncate(j.size); err != nil {
			f.Close()
			return nil, "", err
		}
	}
	return j, notice, nil
}

// append writes one record, completely or not at all.
func (j *journal) append(r Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.file.WriteAt(line, j.size); err != nil {
		j.file.Truncate(j.size) // if this fails, the next openJournal truncates
		return fmt.Errorf("writing the journal: %w", err)
	}
	j.size += int64(len(line))
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	return nil
}

func (j *journal) close() error { return j.file.Close() }

// ReadJournal returns the records of the campaign in dir, which may be running. The notices
// name lines that are not records.
func ReadJournal(dir string) (records []Record, notices []string, err error) {
	path := folder(dir).path(journalFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	number := 0
	for line := range bytes.Lines(data) {
		number++
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			notices = append(notices, fmt.Sprintf("%s:%d: want a record of the journal, as JSON", path, number))
			continue
		}
		records = append(records, r)
	}
	return records, notices, nil
}
