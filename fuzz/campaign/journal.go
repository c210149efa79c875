package campaign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// A Record is one line of the journal.
type Record struct {
	Time   time.Time `json:"time"`
	Event  Event     `json:"event"`
	Target string    `json:"target,omitempty"`

	// Of EventProgress: what happened since the record before.
	Executions int64   `json:"executions,omitempty"`
	Seconds    float64 `json:"seconds,omitempty"` // of one core: those of all workers together
	New        int     `json:"new,omitempty"`     // inputs that found new coverage

	// Of EventProgress: what there is now.
	Coverage int `json:"coverage,omitempty"` // bits of the engine's counters
	Corpus   int `json:"corpus,omitempty"`   // inputs, with the seeds

	Text string `json:"text,omitempty"` // of the other events
}

// An Event says what a record is about.
type Event string

// The events of a campaign.
const (
	EventStart    Event = "start"
	EventProgress Event = "progress"
	EventCrasher  Event = "crasher" // Text is its bucket
	EventNotice   Event = "notice"  // something was damaged or went wrong, and the campaign goes on
	EventStop     Event = "stop"
)

// A journal is the log of a campaign, to which records are appended. It is safe
// for concurrent use.
type journal struct {
	mu   sync.Mutex
	file *os.File
	size int64 // of whole records
}

// openJournal opens the journal at path and cuts off a record that was being
// written when its process ended. notice says so.
func openJournal(path string) (j *journal, notice string, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, "", fmt.Errorf("sealab: %w", err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		f.Close()
		return nil, "", fmt.Errorf("sealab: %w", err)
	}
	j = &journal{file: f, size: int64(bytes.LastIndexByte(data, '\n') + 1)}
	if torn := int64(len(data)) - j.size; torn > 0 {
		notice = fmt.Sprintf("%s: the last record was not written to its end: %d bytes cut off", path, torn)
		if err := f.Truncate(j.size); err != nil {
			f.Close()
			return nil, "", fmt.Errorf("sealab: %w", err)
		}
	}
	return j, notice, nil
}

// append writes one record, whole or not at all.
func (j *journal) append(r Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	line = append(line, '\n')
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.file.WriteAt(line, j.size); err != nil {
		j.file.Truncate(j.size) // what fails here is cut off by the next openJournal
		return fmt.Errorf("sealab: writing the journal: %w", err)
	}
	j.size += int64(len(line))
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("sealab: writing the journal: %w", err)
	}
	return nil
}

func (j *journal) close() error { return j.file.Close() }

// readJournal returns the records at path. A line that is no record is left out
// and named in notices; a last line without an end is being written.
func readJournal(path string) (records []Record, notices []string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("sealab: %w", err)
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
