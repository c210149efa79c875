package campaign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sealab/fuzz/campaign/harness"
)

// A Status is how far a campaign has come, as its folder tells.
type Status struct {
	Dir     string
	Package string
	Started time.Time // first; zero when it never ran
	Ran     float64   // seconds of all workers
	Last    time.Time // the last record
	Targets []TargetStatus
	Notices []string // what was damaged or went wrong, the last last
}

// A TargetStatus is how far one target has come.
type TargetStatus struct {
	Target
	Executions int64
	Seconds    float64
	Rate       float64 // executions a second in the last record
	Coverage   int     // bits of the engine's counters
	Corpus     int     // files on disk
	New        int
	LastNew    time.Time // zero: never
	Curve      []Point
	Crashers   []FoundCrasher
}

// A Point is the coverage after so many executions.
type Point struct {
	Time       time.Time
	Seconds    float64 // that the target ran, of one core
	Executions int64
	Coverage   int
}

// A FoundCrasher is a crasher on disk.
type FoundCrasher struct {
	Crasher
	Dir   string
	Stack []string // frames, the innermost first
}

// ReadStatus reads the status of the campaign in dir, while it runs or not.
func ReadStatus(dir string) (Status, error) {
	f := folder(dir)
	s := Status{Dir: dir}
	subject, err := f.readSubject()
	if err != nil {
		return s, err
	}
	s.Package = subject.Package
	records, notices, err := readJournal(f.journal())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	s.Notices = notices
	for _, t := range subject.Targets {
		ts, err := f.targetStatus(t)
		if err != nil {
			return s, err
		}
		s.Targets = append(s.Targets, ts)
	}
	for _, r := range records {
		s.add(r)
	}
	return s, nil
}

// add adds one record.
func (s *Status) add(r Record) {
	if s.Started.IsZero() {
		s.Started = r.Time
	}
	s.Last = r.Time
	switch r.Event {
	case EventNotice:
		s.Notices = append(s.Notices, r.Text)
	case EventProgress:
		for i := range s.Targets {
			if s.Targets[i].Name == r.Target {
				s.Ran += r.Seconds
				s.Targets[i].add(r)
			}
		}
	}
}

func (t *TargetStatus) add(r Record) {
	t.Executions += r.Executions
	t.Seconds += r.Seconds
	t.New += r.New
	if r.Seconds > 0 {
		t.Rate = float64(r.Executions) / r.Seconds
	}
	if r.New > 0 {
		t.LastNew = r.Time
	}
	if r.Coverage > 0 { // a slice that ended early does not know
		t.Coverage = max(t.Coverage, r.Coverage)
		t.Curve = append(t.Curve, Point{r.Time, t.Seconds, t.Executions, t.Coverage})
	}
}

func (f folder) targetStatus(t Target) (TargetStatus, error) {
	s := TargetStatus{Target: t}
	entries, err := os.ReadDir(f.corpus(t))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("sealab: %w", err)
	}
	s.Corpus = len(entries)
	s.Crashers, err = f.readCrashers(t)
	return s, err
}

// readCrashers returns the crashers of t that are complete, in the order in
// which they were found.
func (f folder) readCrashers(t Target) ([]FoundCrasher, error) {
	paths, err := filepath.Glob(filepath.Join(f.crashers(t.Name), "*", crasherFile))
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	var all []FoundCrasher
	for _, path := range paths {
		if strings.HasPrefix(filepath.Base(filepath.Dir(path)), ".") {
			continue
		}
		k, err := readCrasher(path)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b FoundCrasher) int {
		return cmp.Or(a.Found.Compare(b.Found), cmp.Compare(a.Bucket, b.Bucket))
	})
	return all, nil
}

func readCrasher(path string) (FoundCrasher, error) {
	k := FoundCrasher{Dir: filepath.Dir(path)}
	data, err := os.ReadFile(path)
	if err != nil {
		return k, fmt.Errorf("sealab: %w", err)
	}
	if err := json.Unmarshal(data, &k.Crasher); err != nil {
		return k, fmt.Errorf("sealab: %s: %w; want a crasher, as JSON", path, err)
	}
	_, v, err := readFiled(k.Dir)
	if err != nil {
		return k, fmt.Errorf("sealab: %s: %w; want what the harness files", k.Dir, err)
	}
	k.Stack = harness.Frames(v.Stack)
	return k, nil
}
