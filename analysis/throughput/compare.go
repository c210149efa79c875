package throughput

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"

	"sealab/analysis/stats"
	"sealab/internal/runfile"
)

// alpha is the probability that a comparison of two runs calls any change a
// difference that is none.
const alpha = 0.05

// A Change is one measurement in two runs.
type Change struct {
	Name, Unit string
	Old, New   benchmath.Summary
	N1, N2     int
	P          float64
	// Differs says that the two samples are told apart, all changes taken
	// together.
	Differs bool
	// Beyond says that the change is larger than the noise floor even where the
	// intervals of both runs are closest. What does not vary is always beyond it.
	Beyond bool
	Worse  bool
	// Ours says that the measurement is of a design, and counts; the floors and
	// the peers show what else changed.
	Ours  bool
	exact bool // the unit is a count
	fixed bool // a time of bare cryptography: if it changed, the machine did
}

// Regressed reports whether the change counts against the newer run.
func (c Change) Regressed() bool { return c.Ours && c.Worse && c.Differs && c.Beyond }

// Share returns the change as a share of the old value: 0.1 for 10 % more.
func (c Change) Share() float64 { return c.New.Center/c.Old.Center - 1 }

// least returns the least share by which the values can have changed, as far as
// the intervals of both runs tell, up or down alike. It is negative where they
// overlap.
func (c Change) least() float64 {
	return max(c.New.Lo/c.Old.Hi, c.Old.Lo/c.New.Hi) - 1
}

// A Comparison is what changed between two runs.
type Comparison struct {
	Changes []Change // sorted by name
	Alone   []string // names that only one run has, or has a unit of
	// Noise is the larger of the older run's noise floor, which is the reference,
	// and the drift: how much the bare primitives changed, which no change of a
	// design can move.
	Noise, OldNoise, NewNoise, Drift float64
	// Unlike are the parts of the stamps in which the runs differ though their
	// times only compare where they agree.
	Unlike []string
}

// alike are the parts of the stamp that times depend on.
var alike = []string{"goos", "goarch", "cpu", "cpus", "host", "toolchain", "cell"}

// Compare compares two runs: folders, or files in the Go benchmark format.
func Compare(oldPath, newPath string) (*Comparison, error) {
	p, err := newProjection()
	if err != nil {
		return nil, err
	}
	older, err := p.load(oldPath)
	if err != nil {
		return nil, err
	}
	newer, err := p.load(newPath)
	if err != nil {
		return nil, err
	}
	c := &Comparison{}
	c.match(p, older, newer)
	if len(c.Changes) == 0 {
		return nil, fmt.Errorf("sealab: %s and %s have no measurement in common", older.path, newer.path)
	}
	for _, part := range alike {
		if was, is := older.stamp[part], newer.stamp[part]; was != is {
			c.Unlike = append(c.Unlike, fmt.Sprintf("%s: %q and %q", part, was, is))
		}
	}
	if c.OldNoise, err = older.noise(); err != nil {
		return nil, err
	}
	if c.NewNoise, err = newer.noise(); err != nil {
		return nil, err
	}
	c.judge()
	slices.SortStableFunc(c.Changes, func(a, b Change) int { return cmp.Compare(a.Name, b.Name) })
	return c, nil
}

// match finds what both files measured, and what one of them alone did.
func (c *Comparison) match(p projection, older, newer *samples) {
	both, alone := keys(older, newer)
	for _, key := range alone {
		c.Alone = append(c.Alone, cmp.Or(older.names[key], newer.names[key]))
	}
	slices.Sort(c.Alone)
	c.Alone = slices.Compact(c.Alone)
	for _, key := range both {
		if unit := key.Get(p.unit); unit != "B/s" { // says what sec/op says
			c.Changes = append(c.Changes, change(older, newer, key, unit))
		}
	}
}

// change tests one measurement.
func change(older, newer *samples, key benchproc.Key, unit string) Change {
	assumption := newer.units.GetAssumption(unit)
	thresholds := &benchmath.Thresholds{CompareAlpha: alpha}
	was := benchmath.NewSample(slices.Clone(older.values[key]), thresholds)
	is := benchmath.NewSample(slices.Clone(newer.values[key]), thresholds)
	result := assumption.Compare(was, is)
	subject := newer.subject(key)
	c := Change{
		Name: newer.names[key], Unit: unit,
		Old: assumption.Summary(was, 0.95), New: assumption.Summary(is, 0.95),
		N1: result.N1, N2: result.N2, P: result.P,
		Ours:  subject.Role == "" || subject.Role == runfile.RoleDesign || subject.Role == runfile.RoleScheme,
		exact: assumption == benchmath.AssumeExact,
		fixed: subject.Role == runfile.RoleFloor && subject.Primitive != "" && unit == "sec/op",
	}
	better := newer.units.GetBetter(unit)
	c.Worse = better < 0 && c.New.Center > c.Old.Center || better > 0 && c.New.Center < c.Old.Center
	return c
}

// judge fills in what depends on all changes together.
func (c *Comparison) judge() {
	var ps []float64
	for _, change := range c.Changes {
		if !change.exact {
			ps = append(ps, change.P)
		}
		if change.fixed {
			c.Drift = max(c.Drift, distance(stats.Interval{Point: change.Share() + 1}))
		}
	}
	c.Noise = max(c.OldNoise, c.Drift)
	ps = stats.Holm(ps)
	for i := range c.Changes {
		change := &c.Changes[i]
		if change.exact {
			change.Differs = change.Old.Center != change.New.Center
			change.Beyond = change.Differs
			continue
		}
		change.Differs, ps = ps[0] <= alpha, ps[1:]
		change.Beyond = change.least() > c.Noise
	}
}

// Regressed returns the changes that count against the newer run.
func (c *Comparison) Regressed() []Change {
	return slices.DeleteFunc(slices.Clone(c.Changes), func(ch Change) bool { return !ch.Regressed() })
}

// Blind returns how many of the changes could not be told apart however large
// they were, for want of rounds.
func (c *Comparison) Blind() int {
	tests, blind := 0, 0
	for _, ch := range c.Changes {
		if !ch.exact {
			tests++
		}
	}
	for _, ch := range c.Changes {
		if !ch.exact && leastP(ch.N1, ch.N2) > alpha/float64(tests) {
			blind++
		}
	}
	return blind
}

// leastP returns the least p value that Mann and Whitney's test has for samples
// of n and m: that of samples which do not overlap.
func leastP(n, m int) float64 {
	ways := 1.0 // n+m over n
	for i := 1; i <= n; i++ {
		ways *= float64(m+i) / float64(i)
	}
	return 2 / ways
}

// samples are the measurements of one benchmark file, by name and unit.
type samples struct {
	path   string
	units  benchfmt.UnitMetadataMap
	stamp  map[string]string
	values map[benchproc.Key][]float64
	names  map[benchproc.Key]string
	places map[benchproc.Key]Place // of the names that are the laboratory's
	run    *Run                    // nil where the file is not part of a run
}

// projection groups measurements by name and unit, so that those of two files
// meet.
type projection struct {
	*benchproc.Projection
	unit *benchproc.Field
}

func newProjection() (projection, error) {
	var parser benchproc.ProjectionParser
	filter, err := benchproc.NewFilter("*")
	if err != nil {
		return projection{}, fmt.Errorf("sealab: %w", err)
	}
	p, unit, err := parser.ParseWithUnit(".fullname", filter)
	if err != nil {
		return projection{}, fmt.Errorf("sealab: %w", err)
	}
	return projection{p, unit}, nil
}

// load reads a run's folder, or one file in the Go benchmark format.
func (p projection) load(path string) (*samples, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	s := &samples{path: path, stamp: map[string]string{}, values: map[benchproc.Key][]float64{},
		names: map[benchproc.Key]string{}, places: map[benchproc.Key]Place{}}
	if info.IsDir() {
		s.path = filepath.Join(path, runfile.BenchFile)
		if s.run, err = Load(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	s.units, err = scan(s.path, func(res *benchfmt.Result) error { return s.add(p, res) })
	return s, err
}

func (s *samples) add(p projection, res *benchfmt.Result) error {
	name := string(res.Name)
	place, err := placeOf(res.Name)
	if err == nil {
		name = place.String()
	}
	for i, key := range p.ProjectValues(res) {
		s.values[key] = append(s.values[key], res.Values[i].Value)
		s.names[key], s.places[key] = name, place
	}
	for _, config := range res.Config {
		s.stamp[config.Key] = string(config.Value)
	}
	return nil
}

// keys returns the keys of both files and those of one alone, sorted.
func keys(a, b *samples) (both, alone []benchproc.Key) {
	all := maps.Clone(a.values)
	maps.Copy(all, b.values)
	for key := range all {
		if a.values[key] != nil && b.values[key] != nil {
			both = append(both, key)
		} else {
			alone = append(alone, key)
		}
	}
	benchproc.SortKeys(both)
	benchproc.SortKeys(alone)
	return both, alone
}

// subject returns what was measured at a key, the zero Subject where that is not
// known.
func (s *samples) subject(key benchproc.Key) runfile.Subject {
	if s.run == nil {
		return runfile.Subject{}
	}
	i := slices.IndexFunc(s.run.Subjects, func(at runfile.Subject) bool { return at.Name == s.places[key].Subject })
	if i < 0 {
		return runfile.Subject{}
	}
	return s.run.Subjects[i]
}

// noise returns the noise floor of the run, 0 where it shows none.
func (s *samples) noise() (float64, error) {
	if s.run == nil {
		return 0, nil
	}
	ratios, err := s.run.Ratios()
	if err != nil {
		return 0, err
	}
	share, _ := Noise(ratios)
	return share, nil
}
