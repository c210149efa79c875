// Package throughput evaluates benchmark runs: a table for every operation, the thresholds of the designs,
// and the changes between two runs.
//
// Every ratio within a run is paired by rounds (package stats) and has an interval. All intervals of one
// report hold together at confidence. Measurements of two runs cannot be paired. They are compared with
// the Mann-Whitney test, as in benchstat, with Holm's correction. A change counts only if it exceeds the
// noise of the runs.
package throughput

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"sealab/internal/atomicfile"
	"sealab/internal/runfile"
)

// confidence is the joint confidence of all intervals of one report.
const confidence = 0.99

// A Run holds the measurements of one benchmark run.
type Run struct {
	Path     string
	Stamp    map[string]string // the configuration lines of the benchmark file
	Subjects []runfile.Subject
	cells    map[Place]*Series
	places   []Place // of the cells, in the order of reports
}

// A Place identifies a cell.
type Place struct {
	Subject string
	Op      runfile.Op
	Size    int // payload bytes
}

// String returns the place as text for reports.
func (p Place) String() string { return fmt.Sprintf("%s %s, %s", p.Subject, p.Op, Size(p.Size)) }

// A Series holds the times of one cell over all rounds.
type Series struct {
	Ns        []float64 // per operation, by round
	TokenSize int       // bytes
	Counted   bool      // whether allocations were counted
	Allocs    uint64    // per operation
}

// Rounds returns the number of rounds of the run.
func (r *Run) Rounds() int { return len(r.cells[r.places[0]].Ns) }

// Median returns the median time of one operation at a place in nanoseconds. It reports false if the place
// was not measured.
func (r *Run) Median(p Place) (ns float64, ok bool) {
	c := r.cells[p]
	if c == nil {
		return 0, false
	}
	ns, _ = c.median()
	return ns, true
}

// Total returns the time to seal and unseal one token in each round, or nil if a subject was not measured.
func (r *Run) Total(subject string, size int) []float64 {
	seal, unseal := r.cells[Place{subject, runfile.Seal, size}], r.cells[Place{subject, runfile.Unseal, size}]
	if seal == nil || unseal == nil {
		return nil
	}
	total := slices.Clone(seal.Ns)
	for i, ns := range unseal.Ns {
		total[i] += ns
	}
	return total
}

// NearestSize returns the measured payload size nearest to n bytes.
func (r *Run) NearestSize(n int) int {
	return slices.MinFunc(r.sizes(), func(a, b int) int { return cmp.Compare(max(a, n)-min(a, n), max(b, n)-min(b, n)) })
}

// Load reads the run in the folder dir.
func Load(dir string) (*Run, error) {
	subjects, err := runfile.ReadSubjects(dir)
	var text []byte
	if err == nil {
		text, err = atomicfile.Read(filepath.Join(dir, runfile.BenchFile))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; want the folder of a run of sealab bench", err)
	}
	if err != nil {
		return nil, err
	}
	return parse(dir, text, subjects)
}

// Write writes the measurements in text and their report to the new folder dir, completely or not at all.
func Write(dir string, text []byte, subjects []runfile.Subject) (*Run, error) {
	run, err := parse(dir, text, subjects)
	if err != nil {
		return nil, err
	}
	var report bytes.Buffer
	if err := run.Report(&report, 0); err != nil {
		return nil, err
	}
	return run, runfile.WriteBench(dir, text, report.Bytes(), subjects)
}

// parse parses the text of the benchmark file of the run in the folder dir.
func parse(dir string, text []byte, subjects []runfile.Subject) (*Run, error) {
	path := filepath.Join(dir, runfile.BenchFile)
	r := &Run{Path: dir, Stamp: map[string]string{}, Subjects: subjects, cells: map[Place]*Series{}}
	if _, err := scan(path, text, r.add); err != nil {
		return nil, err
	}
	for _, p := range r.places {
		if n := len(r.cells[p].Ns); n != r.Rounds() {
			return nil, fmt.Errorf("%s: %v was measured %d times and %v %d times; want every cell once in every round",
				path, p, n, r.places[0], r.Rounds())
		}
	}
	r.sort()
	return r, nil
}

// sort sorts the places in the order of reports, which differs from the order of measurement.
func (r *Run) sort() {
	rank := map[string]int{}
	for i, s := range r.Subjects {
		rank[s.Name] = i
	}
	ops := runfile.Ops()
	slices.SortFunc(r.places, func(a, b Place) int {
		return cmp.Or(
			cmp.Compare(slices.Index(ops, a.Op), slices.Index(ops, b.Op)),
			cmp.Compare(rank[a.Subject], rank[b.Subject]),
			cmp.Compare(a.Size, b.Size),
		)
	})
}

func (r *Run) add(res *benchfmt.Result) error {
	p, err := placeOf(res.Name)
	if err != nil {
		return err
	}
	if r.named(p.Subject) == nil {
		return fmt.Errorf("%q is not in %s", p.Subject, runfile.SubjectsFile)
	}
	seconds, ok := res.Value("sec/op")
	if !ok || seconds <= 0 {
		return errors.New("want a positive ns/op")
	}
	c, ok := r.cells[p]
	if !ok {
		c = &Series{}
		r.cells[p] = c
		r.places = append(r.places, p)
	}
	c.Ns = append(c.Ns, seconds*1e9)
	tokenSize, _ := res.Value(runfile.UnitToken)
	c.TokenSize = int(tokenSize)
	allocs, counted := res.Value("allocs/op")
	c.Counted, c.Allocs = counted, uint64(allocs)
	for _, config := range res.Config {
		r.Stamp[config.Key] = string(config.Value)
	}
	return nil
}

// placeOf parses a measurement's name.
func placeOf(name benchfmt.Name) (p Place, err error) {
	_, parts := name.Parts()
	values := map[string]string{}
	for _, part := range parts {
		key, value, _ := strings.Cut(strings.TrimPrefix(string(part), "/"), "=")
		values[key] = value
	}
	p.Subject = runfile.SubjectName(values[runfile.SubjectKey])
	if p.Op, err = runfile.ParseOp(values[runfile.OpKey]); err != nil {
		return p, err
	}
	if p.Size, err = strconv.Atoi(values[runfile.SizeKey]); err != nil || p.Size <= 0 {
		return p, fmt.Errorf("%q is not a payload size", values[runfile.SizeKey])
	}
	return p, nil
}

// named returns the subject called name, or nil.
func (r *Run) named(name string) *runfile.Subject {
	i := slices.IndexFunc(r.Subjects, func(s runfile.Subject) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Subjects[i]
}

// scan calls each for every result in the text of a benchmark file and returns the metadata of its units.
// It fails if a line is not in the benchmark format, or if there is no result.
func scan(path string, text []byte, each func(*benchfmt.Result) error) (benchfmt.UnitMetadataMap, error) {
	found := false
	r := benchfmt.NewReader(bytes.NewReader(text), path)
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, fmt.Errorf("%s:%d: %s; want a line of the Go benchmark format", path, rec.Line, rec.Msg)
		case *benchfmt.Result:
			found = true
			if err := each(rec); err != nil {
				_, line := rec.Pos()
				return nil, fmt.Errorf("%s:%d: %w", path, line, err)
			}
		}
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !found {
		return nil, fmt.Errorf("%s: want lines of the Go benchmark format, there is none", path)
	}
	return r.Units(), nil
}
