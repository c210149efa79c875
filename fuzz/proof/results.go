package proof

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sealab/internal/atomicfile"
)

// Results is a folder with what a proof has so far, written anew after each
// trial:
//
//	trials.jsonl  a Trial in each line
//	table.txt     for a person: see writeTable
type Results struct {
	Dir     string
	Heading string // of the table
	Bugs    []Bug
	Engines []string
	Trials  []Trial
}

const (
	trialsFile = "trials.jsonl"
	tableFile  = "table.txt"
)

// Resume reads the trials that dir has. That there is none is no error.
func (r *Results) Resume() error {
	path := filepath.Join(r.Dir, trialsFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for number := 1; lines.Scan(); number++ {
		var t Trial
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil || t.Bug == "" || t.Engine == "" {
			return fmt.Errorf("sealab: %s:%d: want a trial with a bug and an engine: %q", path, number, lines.Bytes())
		}
		r.Trials = append(r.Trials, t)
	}
	return nil
}

// RequireAlike returns an error when an earlier trial ran under other conditions
// than those of p: one table cannot say both.
func (r *Results) RequireAlike(p Proof) error {
	for _, t := range r.Trials {
		for _, e := range p.Entrants {
			if t.Engine == e.Name() && (t.Limit != e.Limit.Seconds() || t.AtOnce != p.AtOnce || t.Workers != p.Workers) {
				return fmt.Errorf("sealab: %s has trials of %s with a limit of %v s, %d at once with %d workers each; want the same for those to come",
					r.Dir, t.Engine, t.Limit, t.AtOnce, t.Workers)
			}
		}
	}
	return nil
}

// Add adds a trial and writes the folder.
func (r *Results) Add(t Trial) error {
	r.Trials = append(r.Trials, t)
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	var lines bytes.Buffer
	for _, t := range r.Trials {
		line, err := json.Marshal(t)
		if err != nil {
			return fmt.Errorf("sealab: %w", err)
		}
		lines.Write(append(line, '\n'))
	}
	table, err := r.Table()
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.Write(filepath.Join(r.Dir, trialsFile), lines.Bytes()),
		atomicfile.Write(filepath.Join(r.Dir, tableFile), table))
}

// Table returns the heading and the table.
func (r *Results) Table() ([]byte, error) {
	var table bytes.Buffer
	fmt.Fprintf(&table, "%s\n\n", r.Heading)
	err := writeTable(&table, r.Bugs, r.Engines, r.Trials)
	return table.Bytes(), err
}
