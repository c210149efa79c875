package throughput

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"

	"sealab/internal/runfile"
)

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
