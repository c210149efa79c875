package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"time"

	"sealab/internal/page"
	"sealab/internal/runfile"
)

// A fuzzRun is the report of a fuzz campaign.
type fuzzRun struct {
	Path   string     `json:"-"`
	Status fuzzStatus `json:"status"`
}

// A fuzzStatus holds the numbers of a campaign. Older reports have its members at the top level.
type fuzzStatus struct {
	Package string       `json:"package"`
	Started time.Time    `json:"started"`
	Last    time.Time    `json:"last"`
	Targets []fuzzTarget `json:"targets"`
	Notices []string     `json:"notices"`
}

// A fuzzTarget is one target of a campaign.
type fuzzTarget struct {
	Name       string    `json:"name"`
	Executions int64     `json:"executions"`
	Seconds    float64   `json:"seconds"`
	Coverage   int       `json:"coverage"`
	Corpus     int       `json:"corpus"`
	New        int       `json:"new"`
	LastNew    time.Time `json:"last_new"`
	Curve      []struct {
		Seconds  float64 `json:"seconds"`
		Coverage int     `json:"coverage"`
	} `json:"curve"`
	Crashers []struct {
		Bucket string    `json:"bucket"`
		Kind   string    `json:"kind"`
		Text   string    `json:"text"`
		Found  time.Time `json:"found"`
		Size   int       `json:"size"`
	} `json:"crashers"`
}

func loadFuzz(dir string) (*fuzzRun, error) {
	path := filepath.Join(dir, runfile.MainFile(runfile.Fuzz))
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &fuzzRun{Path: dir}
	err = json.Unmarshal(data, f)
	if err == nil && len(f.Status.Targets) == 0 {
		err = json.Unmarshal(data, &f.Status)
	}
	if err == nil && len(f.Status.Targets) == 0 {
		err = errors.New("there is no target")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: want the report of a campaign: %w", path, err)
	}
	return f, nil
}

// A fuzzPage is the data of the page of a campaign.
type fuzzPage struct {
	*fuzzRun
	When, CoreTime, Executions string
	Crashes                    int
	Targets, Crashers          template.HTML
	Charts                     []template.HTML
}

func (s *site) writeFuzz() error {
	if s.Fuzz == nil {
		return s.missing("fuzz.html", "Fuzzing", "make fuzz fuzz-report")
	}
	f := s.Fuzz
	p := fuzzPage{fuzzRun: f, When: stampOf(f.Path)}
	targets := page.Table{Caption: "Targets", Columns: page.Head("target", "#executions", "#a second and core", "#core time", "#coverage, bits", "#inputs", "#last new input after", "#crashers")}
	crashers := page.Table{Caption: "Crashers", Columns: page.Head("bucket", "target", "kind", "#after", "#bytes", "output")}
	total, seconds := int64(0), 0.0
	for _, t := range f.Status.Targets {
		total += t.Executions
		seconds += t.Seconds
		last := "never"
		if !t.LastNew.IsZero() {
			last = t.LastNew.Sub(f.Status.Started).Round(time.Second).String()
		}
		targets.Add(t.Name, fmt.Sprint(t.Executions), fmt.Sprintf("%.0f", float64(t.Executions)/max(t.Seconds, 1)), (time.Duration(t.Seconds) * time.Second).String(),
			fmt.Sprint(t.Coverage), fmt.Sprint(t.Corpus), last, fmt.Sprint(len(t.Crashers)))
		for _, c := range t.Crashers {
			crashers.Add(c.Bucket, t.Name, c.Kind, c.Found.Sub(f.Status.Started).Round(time.Second).String(), fmt.Sprint(c.Size), c.Text)
		}
		if chart := t.chart(f.Status.Started); chart != "" {
			p.Charts = append(p.Charts, chart)
		}
	}
	p.CoreTime = (time.Duration(seconds) * time.Second).String()
	p.Executions, p.Crashes = groupDigits(total, " "), len(crashers.Rows)
	p.Targets, p.Crashers = targets.HTML(), crashers.HTML()
	return s.add("fuzz.html", "Fuzzing", "Fuzz campaign", "Coverage and crashes over time, per target.", "fuzz", p)
}

// chart returns a chart of the target's coverage over core time.
func (t fuzzTarget) chart(started time.Time) template.HTML {
	curve := page.Series{Name: "coverage", Line: true}
	for _, p := range t.Curve {
		curve.Points = append(curve.Points, page.Point{X: p.Seconds, Y: float64(p.Coverage)})
	}
	note := "No crash."
	if n := len(t.Crashers); n > 0 {
		note = fmt.Sprintf("%d crashers, the first %v after the start.", n, t.Crashers[0].Found.Sub(started).Round(time.Second))
	}
	return page.Coverage(t.Name, note, curve)
}
