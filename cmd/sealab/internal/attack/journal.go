package attack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"sealab/fuzz/attack"
	"sealab/internal/verdict"
)

// A lineFile is a JSON Lines file that grows while a command runs.
type lineFile struct {
	file *os.File // if nil, lines are discarded
}

// openLines opens a JSON Lines file for appending, and calls read with each
// line of an earlier run. It skips a line that was truncated when that run
// ended. If path is empty it opens no file.
func openLines(path string, read func(line []byte) error) (l lineFile, err error) {
	if path == "" {
		return l, nil
	}
	if l.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644); err != nil {
		return l, fmt.Errorf("opening the journal: %w", err)
	}
	if info, err := l.file.Stat(); err != nil || !info.Mode().IsRegular() {
		return l, err // a device or pipe is only written to
	}
	if err := l.readAll(read); err != nil {
		return l, errors.Join(err, l.close())
	}
	return l, nil
}

// readAll calls read with each line. It terminates a truncated last line.
func (l lineFile) readAll(read func(line []byte) error) error {
	data, err := io.ReadAll(l.file)
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if cut := bytes.HasPrefix(line, []byte(`{"`)) && !json.Valid(line); cut {
			continue
		}
		if err := read(line); err != nil {
			return fmt.Errorf("%s:%d: %w", l.file.Name(), number, err)
		}
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		if _, err := l.file.WriteString("\n"); err != nil {
			return fmt.Errorf("writing the journal: %w", err)
		}
	}
	return nil
}

// append adds a line.
func (l lineFile) append(entry any) error {
	if l.file == nil {
		return nil
	}
	line, err := json.Marshal(entry)
	if err == nil {
		_, err = l.file.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	return nil
}

func (l lineFile) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// A journal is a JSON Lines file that stores the outcomes of each attack when
// it ends.
type journal struct {
	lineFile
	seed  uint64
	known map[string][]verdict.Result
	err   error // of the first failed write
}

// A journalEntry is a line of a journal: one attack on one design with one
// seed.
type journalEntry struct {
	Seed    uint64            `json:"seed"`
	Design  string            `json:"design"`
	Worker  []string          `json:"worker,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Attack  string            `json:"attack"`
	Calls   int               `json:"calls"`
	Cells   []verdict.Result  `json:"cells"`
}

func (e journalEntry) key() string {
	options, err := json.Marshal(e.Options)
	if err != nil {
		panic(err) // a map of strings always encodes
	}
	return fmt.Sprintf("%d %q %q %s %s", e.Seed, e.Design, e.Worker, options, e.Attack)
}

// openJournal opens a journal for reading and appending. If path is empty it
// stores nothing.
func openJournal(path string, seed uint64) (j *journal, err error) {
	j = &journal{seed: seed, known: map[string][]verdict.Result{}}
	j.lineFile, err = openLines(path, func(line []byte) error {
		var e journalEntry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("not an entry of a journal of attacks: %w", err)
		}
		j.known[e.key()] = e.Cells
		return nil
	})
	return j, err
}

func (j *journal) entry(d *attack.Design, id string) journalEntry {
	return journalEntry{Seed: j.seed, Design: d.Name, Worker: d.Worker, Options: d.Options, Attack: id}
}

// results returns the stored outcomes of an attack, or nil if the attack was
// not completed.
func (j *journal) results(d *attack.Design, id string) []verdict.Result {
	results := j.known[j.entry(d, id).key()]
	if slices.ContainsFunc(results, isIncomplete) {
		return nil
	}
	return results
}

// keep appends the outcomes of an attack. A failed write is reported at the end
// of the run, after the results have been printed.
func (j *journal) keep(d *attack.Design, id string, results []verdict.Result, calls int) {
	if j.file == nil || j.err != nil {
		return
	}
	e := j.entry(d, id)
	e.Cells, e.Calls = results, calls
	if slices.ContainsFunc(results, isIncomplete) || j.known[e.key()] != nil {
		return
	}
	j.err = j.append(e)
}

func isIncomplete(r verdict.Result) bool { return r.Incomplete }

// close closes the journal. It returns the error of the first failed write.
func (j *journal) close() error { return errors.Join(j.err, j.lineFile.close()) }
