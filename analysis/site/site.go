// Package site writes static pages of results: the designs with their guarantees and the outcomes of
// attacks, a page for each design, benchmark runs with a comparison and their history, attacks, a review,
// a fuzz campaign, the vectors, and the guides.
//
// Every page is one HTML file that includes its style, script and pictures (package page). It makes no
// request and works from a folder. The pages depend only on the results, the vectors and the catalog. A
// design or property without a result is "not tested".
package site

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"path/filepath"
	"strings"
	"time"

	"sealab/analysis/findings"
	"sealab/analysis/throughput"
	"sealab/analysis/timing"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/atomicfile"
	"sealab/internal/page"
	"sealab/internal/runfile"
)

//go:embed pages.html
var pagesHTML string

var bodyTemplates = template.Must(template.New("").Funcs(template.FuncMap{
	"percent":   func(share float64) float64 { return 100 * share },
	"count":     func(n int) string { return groupDigits(int64(n), ",") },
	"languages": func() map[string]string { return languageNotes },
}).Parse(pagesHTML))

// groupDigits formats a number with a separator between groups of three digits.
func groupDigits(n int64, separator string) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + separator + text[i:]
	}
	return text
}

// Size is the payload size of the home page in bytes.
const Size = 1024

// A Source lists the folders and texts from which the pages are made.
type Source struct {
	Results string // runs, by kind
	Vectors string // files of vectors; "" omits them
	// Commands are the pages of the commands in Markdown, in order. If empty, the site has no command
	// reference.
	Commands []Command
}

// A site holds the data of all pages.
type site struct {
	Source
	Designs    []*design
	Properties []codecs.PropertyInfo
	Bench      *benchRun       // nil if there is no run
	Older      *throughput.Run // the run to compare Bench with; nil if there is none
	History    []*benchRun     // all runs, oldest first
	Attack     *attackRun      // nil if there is no run
	Review     *reviewRun      // nil if there is no run
	Fuzz       *fuzzRun        // nil if there is no run
	Vectors    []vectorsFile   // by design
	timing     *timing.Judgement
	timingDir  string
	files      map[string][]byte
}

// navigationLinks are the entries of the navigation.
var navigationLinks = []page.Link{
	{Name: "Designs", File: "index.html"}, {Name: "Choose", File: "choose.html"}, {Name: "Benchmark", File: "bench.html"}, {Name: "Compare", File: "compare.html"},
	{Name: "History", File: "history.html"}, {Name: "Attacks", File: "attacks.html"}, {Name: "Review", File: "review.html"},
	{Name: "Fuzzing", File: "fuzz.html"}, {Name: "Vectors", File: "vectors.html"}, {Name: "Guides", File: "guides.html"},
}

// Write reads the newest run of each kind and writes the pages to the new folder dir.
func Write(from Source, dir string) error {
	s, err := loadSite(from)
	if err != nil {
		return err
	}
	for _, write := range []func() error{s.writeHome, s.writeChoose, s.writeDesigns, s.writeBench, s.writeAttacks, s.writeFuzz, s.writeVectors, s.writeGuides} {
		if err := write(); err != nil {
			return err
		}
	}
	return atomicfile.WriteFolder(dir, s.files)
}

// WriteRun writes the page of one run to a file. The run is a benchmark, a run of attacks, a review or a
// fuzz campaign.
func WriteRun(run, file string) error {
	s := &site{files: map[string][]byte{}, Properties: codecs.Properties()}
	has := func(name string) bool { return atomicfile.Exists(filepath.Join(run, name)) }
	var err error
	name, write := "", s.writeBench
	switch {
	case has(runfile.BenchFile):
		name = "bench.html"
		var loaded *throughput.Run
		if loaded, err = throughput.Load(run); err == nil {
			s.Bench, err = newBenchRun(loaded)
			s.History = []*benchRun{s.Bench}
		}
	case has("table.md"):
		name, write = "attacks.html", s.writeAttacks
		s.Attack, err = loadAttack(run)
	case has("findings.json") && has("report.json"):
		name, write = "review.html", s.writeAttacks
		s.Review, err = loadReview(run)
	case has("report.json"):
		name, write = "fuzz.html", s.writeFuzz
		s.Fuzz, err = loadFuzz(run)
	default:
		return fmt.Errorf("%s: want the folder of a run of the benchmark, of attacks, of a review or of a fuzz campaign", run)
	}
	if err == nil {
		err = write()
	}
	if err != nil {
		return err
	}
	return atomicfile.Write(file, s.files[name])
}

// alone reports whether the site is only the page of one run.
func (s *site) alone() bool { return s.Results == "" }

// add renders a page with the template called name as its body.
func (s *site) add(file, section, title, lead, name string, data any) error {
	var body bytes.Buffer
	if err := bodyTemplates.ExecuteTemplate(&body, name, data); err != nil {
		return err
	}
	p := page.Page{Title: title, Lead: lead, Section: section, Body: template.HTML(body.String()), Home: "#main"} //nolint:gosec // made by html/template
	if !s.alone() {
		p.Nav, p.Home = navigationLinks, ""
	}
	text, err := p.Render()
	s.files[file] = text
	return err
}

// loadNewest loads the newest run of a kind. It returns nil if there is none.
func loadNewest[T any](results, kind string, load func(dir string) (*T, error)) (*T, error) {
	runs, err := runfile.Runs(results, kind)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	return load(runs[len(runs)-1])
}

func loadSite(from Source) (*site, error) {
	s := &site{Source: from, Properties: codecs.Properties(), files: map[string][]byte{}}
	runs, err := throughput.Whole(from.Results)
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		if s.Bench, err = newBenchRun(run); err != nil {
			return nil, err
		}
		s.History = append(s.History, s.Bench)
	}
	if len(runs) > 1 {
		s.Older, _ = throughput.Earlier(runs)
	}
	if s.Attack, err = loadNewest(from.Results, runfile.Attack, loadAttack); err != nil {
		return nil, err
	}
	if s.Review, err = loadNewest(from.Results, runfile.Review, loadReview); err != nil {
		return nil, err
	}
	if s.Fuzz, err = loadNewest(from.Results, runfile.Fuzz, loadFuzz); err != nil {
		return nil, err
	}
	if s.timing, err = loadNewest(from.Results, runfile.Timing, func(dir string) (*timing.Judgement, error) {
		s.timingDir = dir
		return timing.Read(dir)
	}); err != nil {
		return nil, err
	}
	taint, err := loadNewest(from.Results, runfile.Taint, loadTaint)
	if err != nil {
		return nil, err
	}
	if s.Bench == nil && s.Attack == nil {
		return nil, fmt.Errorf("%s: want a run in %s or %s, found none", from.Results, runfile.Bench, runfile.Attack)
	}
	if s.Vectors, err = loadVectors(from.Vectors); err != nil {
		return nil, err
	}
	for _, d := range catalog.All() {
		s.Designs = append(s.Designs, s.newDesign(d, taint))
	}
	return s, nil
}

// stampOf returns the time and commit in the name of a run's folder.
func stampOf(dir string) string {
	name := filepath.Base(dir)
	date, commit, ok := strings.Cut(name, "-")
	at, err := time.Parse("20060102T150405Z", date)
	if !ok || err != nil {
		return name
	}
	return at.Format("2 January 2006, 15:04 UTC") + ", commit " + commit
}

// countAccusing returns the number of findings that contradict a claim.
func countAccusing(all []findings.Finding) (n int) {
	for _, f := range all {
		if findings.Accusing([]findings.Finding{f}) {
			n++
		}
	}
	return n
}

// measurement returns the newest measurement of a place, or nil.
func (s *site) measurement(p throughput.Place) *throughput.Measurement {
	if s.Bench == nil {
		return nil
	}
	return s.Bench.at[p]
}
