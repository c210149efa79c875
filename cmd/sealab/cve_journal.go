package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"sealab/fuzz/attack/cve"
	"sealab/internal/runfile"
)

// A cveJournal is a file of JSON Lines that keeps the outcome of each case as soon as it
// is known. Outcomes of other code, another seed or another budget do not count.
type cveJournal struct {
	file  *os.File // nil: outcomes are not kept
	run   string
	known map[string]cve.Outcome // by CVE
}

type cveEntry struct {
	Run     string      `json:"run"`
	Outcome cve.Outcome `json:"outcome"`
}

// openCVEJournal opens a journal to read and append. Without a path it keeps no outcomes.
func openCVEJournal(path string, bench cve.Bench) (*cveJournal, error) {
	j := &cveJournal{known: map[string]cve.Outcome{}}
	if path == "" {
		return j, nil
	}
	stamp, err := runfile.NewStamp(time.Now(), "")
	if err != nil {
		return nil, err
	}
	j.run = fmt.Sprintf("%s dirty=%t seed=%d class=%t budget=%s", stamp.Commit, stamp.Dirty, bench.Seed, bench.Class, bench.Budget)
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		var e cveEntry
		if json.Unmarshal([]byte(line), &e) == nil && e.Run == j.run { // a line may be cut
			j.known[e.Outcome.CVE] = e.Outcome
		}
	}
	if j.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	if n := len(data); n > 0 && data[n-1] != '\n' {
		_, err = j.file.WriteString("\n")
	}
	return j, err
}

// keep appends an outcome.
func (j *cveJournal) keep(o cve.Outcome) error {
	if j.file == nil {
		return nil
	}
	line, err := json.Marshal(cveEntry{j.run, o})
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	return nil
}

func (j *cveJournal) close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}
