package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
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
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sealab: %s is there already, and results are never overwritten", dir)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	half := dir + ".half"
	if err := os.MkdirAll(filepath.Join(half, picturesFolder), 0o755); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	files := map[string][]byte{reportPage: r.Markdown(), reportFile: append(data, '\n')}
	for name, picture := range r.pictures {
		files[path.Join(picturesFolder, name)] = picture
	}
	for name, content := range files {
		if err := atomicfile.Write(filepath.Join(half, name), content); err != nil {
			return err
		}
	}
	if err := os.Rename(half, dir); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	return nil
}

// Markdown is the report as a page.
func (r Report) Markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Fuzz campaign on %s\n\n", r.Package)
	fmt.Fprintf(&b, "Commit %s, dirty %v, host %s, %s, %s, %d cores.\nFrom %s to %s.\n\n", r.Stamp.Commit, r.Stamp.Dirty, r.Stamp.Host,
		r.Stamp.Toolchain, r.Stamp.Processor, r.Stamp.Cores, r.Started.UTC().Format(time.RFC3339), r.Last.UTC().Format(time.RFC3339))
	b.WriteString("| target | executions | a second and core | core time | coverage, bits | inputs | new | last new | crashers |\n" +
		"|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	var executions, core float64
	var crashers int
	for _, t := range r.Targets {
		fmt.Fprintf(&b, "| [%s](%s/%s.svg) | %s | %.0f | %s | %d | %d | %d | %s | %d |\n", t.Name, picturesFolder, t.Name, t.executions(), t.Rate,
			seconds(t.Seconds), t.Coverage, t.Corpus, t.New, t.lastNew(r.Started), len(t.Crashers))
		executions, core, crashers = executions+float64(t.Executions), core+t.Seconds, crashers+len(t.Crashers)
	}
	fmt.Fprintf(&b, "| all | %.0f | %.0f | %s | | | | | %d |\n", executions, executions/max(core, 1), seconds(core), crashers)
	b.WriteString("\nThe names lead to the curves of coverage. The last new input is counted from the first start.\n")
	r.writeCrashers(&b)
	r.writeRest(&b)
	return b.Bytes()
}

func (r Report) writeCrashers(b *bytes.Buffer) {
	b.WriteString("\n## Crashers\n\n")
	none := true
	for _, t := range r.Targets {
		for _, k := range t.Crashers {
			none = false
			fmt.Fprintf(b, "- %s `%s`: `%s` (%d bytes, minimized to %d%s)\n", t.Name, k.Bucket, oneLine(k.Text), k.Size, k.Minimized, k.Condition())
		}
	}
	if none {
		b.WriteString("None.\n")
	}
}

func (r Report) writeRest(b *bytes.Buffer) {
	if r.Covered != "" {
		fmt.Fprintf(b, "\n## Statements that the corpora run\n\n```\n%s```\n", r.Covered)
	}
	if len(r.Notices) > 0 {
		b.WriteString("\n## Notices\n\n")
		for _, n := range r.Notices {
			fmt.Fprintf(b, "- %s\n", oneLine(n))
		}
	}
}

// executions counts them; a target without any is unexercised.
func (t TargetReport) executions() string {
	if t.Executions == 0 {
		return "unexercised"
	}
	return strconv.FormatInt(t.Executions, 10)
}

// lastNew is when the last new input was found, since a time.
func (t TargetReport) lastNew(since time.Time) string {
	if t.LastNew == nil {
		return "never"
	}
	return age(since, *t.LastNew)
}
