package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"sealab/internal/atomicfile"
)

// A Stamp says where the code of a campaign is from and what it ran on.
type Stamp struct {
	Commit    string   `json:"commit"`
	Dirty     bool     `json:"dirty"`
	Host      string   `json:"host"`
	Toolchain string   `json:"toolchain"`
	Processor string   `json:"processor"`
	Cores     int      `json:"cores"`
	Modules   []string `json:"modules"` // the other modules of the build, as path@version
}

// A Report is the part of a campaign's folder that is worth keeping beside the
// code: what ran, how far it got, and what it found.
type Report struct {
	Stamp    Stamp          `json:"stamp"`
	Package  string         `json:"package"`
	Started  time.Time      `json:"started"`
	Last     time.Time      `json:"last"` // the last record
	Targets  []TargetReport `json:"targets"`
	Notices  []string       `json:"notices,omitempty"`
	Covered  string         `json:"-"` // the table of Cover; empty where it was not asked
	pictures map[string][]byte
}

// A TargetReport is one target of a Report.
type TargetReport struct {
	Name       string      `json:"name"`
	Executions int64       `json:"executions"`
	Seconds    float64     `json:"seconds"`  // of one core
	Rate       float64     `json:"rate"`     // executions a second and core
	Coverage   int         `json:"coverage"` // bits of the engine's counters
	Corpus     int         `json:"corpus"`   // inputs that found new coverage, on disk
	New        int         `json:"new"`      // of them, found in this campaign
	LastNew    *time.Time  `json:"last_new,omitempty"`
	Crashers   []Crasher   `json:"crashers"`
	Curve      []CurvePart `json:"curve"`
}

// A CurvePart is the coverage of one target after so many seconds of one core.
type CurvePart struct {
	Seconds    float64 `json:"seconds"`
	Executions int64   `json:"executions"`
	Coverage   int     `json:"coverage"`
}

// ReadReport returns the report of the campaign in dir. What Cover found is in it
// where CoverTable holds it.
func ReadReport(dir string, stamp Stamp) (Report, error) {
	s, err := ReadStatus(dir)
	if err != nil {
		return Report{}, err
	}
	if s.Executions() == 0 {
		return Report{}, fmt.Errorf("sealab: the campaign in %s ran nothing: want at least one execution", dir)
	}
	r := Report{Stamp: stamp, Package: s.Package, Started: s.Started, Last: s.Last, Notices: s.Notices, pictures: map[string][]byte{}}
	for _, t := range s.Targets {
		r.Targets = append(r.Targets, t.report())
		r.pictures[t.Name+".svg"] = t.Picture()
	}
	table, err := os.ReadFile(filepath.Join(dir, CoverTable))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("sealab: %w", err)
	}
	r.Covered = string(table)
	return r, nil
}

func (t TargetStatus) report() TargetReport {
	r := TargetReport{Name: t.Name, Executions: t.Executions, Seconds: t.Seconds, Rate: t.Mean(),
		Coverage: t.Coverage, Corpus: t.Corpus, New: t.New, Crashers: []Crasher{}, Curve: []CurvePart{}}
	if !t.LastNew.IsZero() {
		r.LastNew = &t.LastNew
	}
	for _, k := range t.Crashers {
		r.Crashers = append(r.Crashers, k.Crasher)
	}
	if len(t.Curve) > 0 {
		for _, p := range thin(t.Curve, curveRight-curveLeft) {
			r.Curve = append(r.Curve, CurvePart{p.Seconds, p.Executions, p.Coverage})
		}
	}
	return r
}

// The files of a report's folder.
const (
	reportPage     = "report.md"
	reportFile     = "report.json"
	picturesFolder = "pictures"
)

// Write makes the folder dir with report.md, report.json and pictures/, whole or
// not at all. It must not be there: results are never overwritten.
func (r Report) Write(dir string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	files := map[string][]byte{reportPage: r.Markdown(), reportFile: append(data, '\n')}
	for name, picture := range r.pictures {
		files[path.Join(picturesFolder, name)] = picture
	}
	return atomicfile.WriteFolder(dir, files)
}
