package throughput

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"

	"sealab/analysis/stats"
	"sealab/internal/atomicfile"
	"sealab/internal/runfile"
)

// alpha is the probability that a comparison of two identical runs reports any difference.
const alpha = 0.05

// A Change is one measurement compared between two runs.
type Change struct {
	Name, Unit string
	Subject    runfile.Subject // zero if unknown
	Op         runfile.Op      // empty if unknown
	Size       int             // payload bytes; 0 if unknown
	Old, New   benchmath.Summary
	N1, N2     int
	P          float64
	// Differs says that the two samples differ significantly, corrected for all changes.
	Differs bool
	// Beyond says that the change exceeds the noise floor even at the nearest ends of the two intervals.
	// For a count it equals Differs.
	Beyond bool
	Worse  bool
	exact  bool // the unit is a count
}

// ours reports whether the change is of a design. Only those count. Baselines and libraries show changes
// of the machine or the toolchain.
func (c Change) ours() bool {
	return c.Subject.Role == "" || c.Subject.Role == runfile.RoleDesign || c.Subject.Role == runfile.RoleScheme
}

// Regressed reports whether the change counts against the newer run.
func (c Change) Regressed() bool { return c.ours() && c.Worse && c.Differs && c.Beyond }

// Share returns the change as a share of the old value: 0.1 for 10 % more.
func (c Change) Share() float64 { return c.New.Center/c.Old.Center - 1 }

// effect returns the absolute logarithm of the change.
func (c Change) effect() float64 {
	e := math.Abs(math.Log(c.New.Center / c.Old.Center))
	if math.IsNaN(e) {
		return 0
	}
	return e
}

// least returns the smallest share by which the values changed according to the intervals of both runs.
// Increases and decreases count alike. It is negative if the intervals overlap.
func (c Change) least() float64 { return max(c.New.Lo/c.Old.Hi, c.Old.Lo/c.New.Hi) - 1 }

// A Comparison is the result of comparing two runs.
type Comparison struct {
	Changes []Change // regressions first, then by the size of the change
	Alone   []string // names in only one run
	// Noise is the larger of the noise floor of the older run, which is the reference, and the drift. The
	// drift is the largest change of a bare primitive, which no change of a design can affect.
	Noise, OldNoise, NewNoise, Drift float64
	shift                            float64 // geometric mean of the changes of the bare primitives, increases and decreases alike
	// Unlike lists the parts of the stamps that differ although comparable times need them equal.
	Unlike []string
}

// alike lists the parts of the stamp on which times depend.
var alike = []string{"goos", "goarch", "cpu", "cpus", "host", "toolchain", "cell"}

// Compare compares two runs: folders, or files in the Go benchmark format. filter selects measurements in
// the syntax of golang.org/x/perf/benchproc. "*" selects all.
func Compare(oldPath, newPath, filter string) (*Comparison, error) {
	selected, err := benchproc.NewFilter(filter)
	if err != nil {
		return nil, fmt.Errorf("filter %q: %w", filter, err)
	}
	older, err := readBenchFile(oldPath, selected)
	if err != nil {
		return nil, err
	}
	newer, err := readBenchFile(newPath, selected)
	if err != nil {
		return nil, err
	}
	c := match(older, newer)
	if len(c.Changes) == 0 {
		return nil, fmt.Errorf("%s and %s have no measurement in common", older.path, newer.path)
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
	slices.SortStableFunc(c.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.effect(), a.effect()), cmp.Compare(a.Name, b.Name))
	})
	return c, nil
}

// rank orders regressions first, then changes beyond the noise, then other significant changes.
func rank(c Change) int {
	switch {
	case c.Regressed():
		return 0
	case c.Differs && c.Beyond:
		return 1
	case c.Differs:
		return 2
	}
	return 3
}

// match pairs the measurements in both files and lists those in only one.
func match(older, newer *benchFile) *Comparison {
	c := new(Comparison)
	for _, k := range newer.keys {
		switch {
		case older.values[k] == nil:
			c.Alone = append(c.Alone, k.name)
		case k.unit != "B/s": // equivalent to sec/op
			c.Changes = append(c.Changes, change(older, newer, k))
		}
	}
	for _, k := range older.keys {
		if newer.values[k] == nil {
			c.Alone = append(c.Alone, k.name)
		}
	}
	slices.Sort(c.Alone)
	c.Alone = slices.Compact(c.Alone)
	return c
}

// change tests one measurement.
func change(older, newer *benchFile, k key) Change {
	assumption := newer.units.GetAssumption(k.unit)
	thresholds := &benchmath.Thresholds{CompareAlpha: alpha}
	was := benchmath.NewSample(slices.Clone(older.values[k]), thresholds)
	is := benchmath.NewSample(slices.Clone(newer.values[k]), thresholds)
	result := assumption.Compare(was, is)
	c := Change{
		Name: k.name, Unit: k.unit, Subject: newer.subject(k), Op: newer.places[k].Op, Size: newer.places[k].Size,
		Old: assumption.Summary(was, 0.95), New: assumption.Summary(is, 0.95),
		N1: result.N1, N2: result.N2, P: result.P,
		exact: assumption == benchmath.AssumeExact,
	}
	better := newer.units.GetBetter(k.unit)
	c.Worse = better < 0 && c.New.Center > c.Old.Center || better > 0 && c.New.Center < c.Old.Center
	return c
}

// judge sets the fields that depend on all changes.
func (c *Comparison) judge() {
	var ps []float64
	shift, n := 0.0, 0.0
	for _, change := range c.Changes {
		if !change.exact {
			ps = append(ps, change.P)
		}
		bare := change.Subject.Role == runfile.RoleBaseline && change.Subject.Primitive != ""
		if bare && change.Unit == "sec/op" {
			c.Drift = max(c.Drift, distance(stats.Interval{Point: change.Share() + 1}))
			shift, n = shift+change.effect(), n+1
		}
	}
	c.Noise = max(c.OldNoise, c.Drift)
	c.shift = math.Expm1(shift / max(n, 1))
	ps = stats.Holm(ps)
	for i := range c.Changes {
		change := &c.Changes[i]
		if change.exact {
			change.Differs = change.Old.Center != change.New.Center
			change.Beyond = change.Differs
			continue
		}
		change.Differs, ps = ps[0] <= alpha && c.Timed(), ps[1:]
		change.Beyond = change.least() > c.Noise
	}
}

// maxShift is the largest mean change of the bare primitives at which times are still comparable.
const maxShift = 0.5

// Timed reports whether the times of the runs are comparable: the bare primitives took about as long in
// both. Counts are always comparable.
func (c *Comparison) Timed() bool { return c.shift <= maxShift }

// Regressed returns the changes that count against the newer run.
func (c *Comparison) Regressed() []Change {
	return slices.DeleteFunc(slices.Clone(c.Changes), func(ch Change) bool { return !ch.Regressed() })
}

// Blind returns the number of changes with so few rounds that no difference could be significant.
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

// leastP returns the smallest p-value of the Mann-Whitney test for samples of sizes n and m, which is that
// of samples that do not overlap.
func leastP(n, m int) float64 {
	ways := 1.0 // n+m choose n
	for i := 1; i <= n; i++ {
		ways *= float64(m+i) / float64(i)
	}
	return 2 / ways
}

// A key identifies the values of one measurement.
type key struct{ name, unit string }

// A benchFile holds the selected measurements of one benchmark file.
type benchFile struct {
	path   string
	units  benchfmt.UnitMetadataMap
	stamp  map[string]string
	keys   []key // in the order of the file
	values map[key][]float64
	places map[key]Place // of the measurements of this benchmark
	run    *Run          // nil if the file is not part of a run
}

// readBenchFile reads a run's folder, or one file in the Go benchmark format.
func readBenchFile(path string, filter *benchproc.Filter) (*benchFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	f := &benchFile{path: path, stamp: map[string]string{}, values: map[key][]float64{}, places: map[key]Place{}}
	if info.IsDir() {
		f.path = filepath.Join(path, runfile.BenchFile)
		if f.run, err = Load(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	text, err := atomicfile.Read(f.path)
	if err != nil {
		return nil, err
	}
	f.units, err = scan(f.path, text, func(res *benchfmt.Result) error { return f.add(filter, res) })
	return f, err
}

func (f *benchFile) add(filter *benchproc.Filter, res *benchfmt.Result) error {
	for _, config := range res.Config {
		f.stamp[config.Key] = string(config.Value)
	}
	if ok, err := filter.Apply(res); err != nil || !ok {
		return err
	}
	name := string(res.Name)
	place, err := placeOf(res.Name)
	if err == nil {
		name = place.String()
	}
	for _, v := range res.Values {
		k := key{name, v.Unit}
		if f.values[k] == nil {
			f.keys = append(f.keys, k)
			f.places[k] = place
		}
		f.values[k] = append(f.values[k], v.Value)
	}
	return nil
}

// subject returns the subject of a measurement, or the zero Subject.
func (f *benchFile) subject(k key) runfile.Subject {
	if f.run == nil {
		return runfile.Subject{}
	}
	if s := f.run.named(f.places[k].Subject); s != nil {
		return *s
	}
	return runfile.Subject{}
}

// noise returns the noise floor of the run, or 0.
func (f *benchFile) noise() (float64, error) {
	if f.run == nil {
		return 0, nil
	}
	ratios, err := f.run.Ratios()
	if err != nil {
		return 0, err
	}
	share, _ := Noise(ratios)
	return share, nil
}
