// Package site writes static pages of committed results: the designs with their
// guarantees and the outcomes of attacks, a page for each design, the newest run
// of the benchmark, and the findings of the newest run of attacks.
//
// Every page is one file of HTML with its style and its picture inside. It makes
// no request, and works from a folder. The pages follow from the results and the
// catalog alone: a design or property without a result is "not tested".
//
// Limitations: tables cannot be sorted or filtered, and there is no history of
// runs.
package site

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"sealab/analysis/findings"
	"sealab/analysis/throughput"
	"sealab/analysis/timing"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/atomicfile"
	"sealab/internal/runfile"
)

//go:embed pages.html
var pagesHTML string

var pages = template.Must(template.New("").Parse(pagesHTML))

// NotTested is the outcome of a property that no run of the results has.
const NotTested = "not tested"

// A Design is one row of the home page, and a page of its own.
type Design struct {
	Name, Doc, Spec, Kind, File string
	Seal, Unseal                string // median times at Size, "" if not measured
	TokenSize                   int
	Guarantees                  []Guarantee
	Findings                    []findings.Finding
	Pairs                       []Pair
	unsealNs                    float64
}

// A Guarantee is a property with the claim of a design and the outcome of attacks.
type Guarantee struct {
	Property, Claim, Reason, Outcome string
	Class                            string // style of the cell
}

// A Pair is a timing outcome.
type Pair struct{ Name, Effect, Detectable, Outcome string }

// Size is the payload size of the home page in bytes.
const Size = 1024

// A site is everything that the pages show.
type site struct {
	Designs                     []*Design
	Properties                  []codecs.PropertyInfo
	Findings                    []findings.Finding
	BenchRun, AttackRun, Timing string // folders, "" if there is none
	Report                      string // of the benchmark
	Size                        int
	Plot                        template.HTML
}

// Write reads the newest run of each kind below results and writes the pages to
// the new folder dir.
func Write(results, dir string) error {
	s, err := load(results)
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	render := func(name, page string, data any) {
		var b bytes.Buffer
		if e := pages.ExecuteTemplate(&b, page, data); err == nil {
			err = e
		}
		files[name] = b.Bytes()
	}
	render("index.html", "home", s)
	render("bench.html", "bench", s)
	render("findings.html", "findings", s)
	for _, d := range s.Designs {
		render(d.File, "design", d)
	}
	if err != nil {
		return err
	}
	return atomicfile.WriteFolder(dir, files)
}

// newest returns the newest run of a kind, or "" if there is none.
func newest(results, kind string) (string, error) {
	runs, err := runfile.Runs(results, kind)
	if err != nil || len(runs) == 0 {
		return "", err
	}
	return runs[len(runs)-1], nil
}

func load(results string) (*site, error) {
	s := &site{Properties: codecs.Properties(), Size: Size}
	for _, d := range catalog.All() {
		s.Designs = append(s.Designs, &Design{
			Name: d.Name, Doc: d.Doc, Spec: d.Spec, Kind: string(d.Kind()), File: "design-" + d.Name + ".html",
		})
	}
	outcomes, err := s.loadAttacks(results)
	if err != nil {
		return nil, err
	}
	for i, d := range catalog.All() {
		s.Designs[i].claim(d, outcomes[d.Name])
	}
	if err := s.loadBench(results); err != nil {
		return nil, err
	}
	if err := s.loadTiming(results); err != nil {
		return nil, err
	}
	if s.BenchRun == "" && s.AttackRun == "" {
		return nil, fmt.Errorf("%s: want a run in %s or %s, found none", results, runfile.Bench, runfile.Attack)
	}
	s.Plot = s.plot()
	return s, nil
}

// loadAttacks reads the findings and the table of the newest run of attacks, and
// returns the outcome of each property of each design.
func (s *site) loadAttacks(results string) (map[string]map[string]string, error) {
	var err error
	if s.AttackRun, err = newest(results, runfile.Attack); err != nil || s.AttackRun == "" {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(s.AttackRun, runfile.MainFile(runfile.Attack)))
	if err != nil {
		return nil, err
	}
	if s.Findings, err = findings.Read(data); err != nil {
		return nil, err
	}
	for _, f := range s.Findings {
		for _, d := range s.Designs {
			if d.Name == f.Location.Design {
				d.Findings = append(d.Findings, f)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(s.AttackRun, "table.md"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return outcomesOf(string(text)), err
}

// outcomesOf reads the table of a run of attacks: a line for each property with a
// cell for each design.
func outcomesOf(markdown string) map[string]map[string]string {
	all := map[string]map[string]string{}
	var names []string
	for line := range strings.Lines(markdown) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) < 2:
		case cells[0] == "property":
			names = cells[1:]
		case !strings.HasPrefix(cells[0], "---"):
			for i, cell := range cells[1:] {
				if i < len(names) && all[names[i]] == nil {
					all[names[i]] = map[string]string{}
				}
				if i < len(names) {
					all[names[i]][cells[0]] = cell
				}
			}
		}
	}
	return all
}

// claim sets the guarantees of a design with the outcomes of attacks on them.
func (d *Design) claim(design codecs.Design, outcomes map[string]string) {
	for _, info := range codecs.Properties() {
		g := Guarantee{Property: string(info.Property), Claim: "not claimed", Outcome: NotTested, Class: "quiet"}
		if claimed, ok := design.Guarantee(info.Property, nil); ok {
			g.Reason = claimed.Reason
			g.Claim = "claimed"
			if !claimed.Holds {
				g.Claim = "disclaimed"
			}
		}
		if text := outcomes[g.Property]; text != "" && text != "-" {
			g.Outcome = strings.NewReplacer("standing", "not refuted", "unexercised", NotTested).Replace(text)
		}
		switch {
		case strings.HasPrefix(g.Outcome, "refuted") && g.Claim == "claimed":
			g.Class = "bad"
		case g.Claim == "claimed" && strings.HasPrefix(g.Outcome, "not refuted"):
			g.Class = "good"
		}
		d.Guarantees = append(d.Guarantees, g)
	}
}

// loadBench reads the newest run of the benchmark.
func (s *site) loadBench(results string) error {
	var err error
	if s.BenchRun, err = newest(results, runfile.Bench); err != nil || s.BenchRun == "" {
		return err
	}
	run, err := throughput.Load(s.BenchRun)
	if err != nil {
		return err
	}
	for _, d := range s.Designs {
		for _, op := range []runfile.Op{runfile.Seal, runfile.Unseal} {
			ns, text, token := run.Figures(throughput.Place{Subject: d.Name, Op: op, Size: Size})
			if text == "" {
				continue
			}
			d.TokenSize = token
			if op == runfile.Seal {
				d.Seal = text
			} else {
				d.Unseal, d.unsealNs = text, ns
			}
		}
	}
	var report strings.Builder
	err = run.Report(&report, 0)
	s.Report = report.String()
	return err
}

// loadTiming reads the newest judgement of timing samples.
func (s *site) loadTiming(results string) error {
	var err error
	if s.Timing, err = newest(results, runfile.Timing); err != nil || s.Timing == "" {
		return err
	}
	j, err := timing.Read(s.Timing)
	if err != nil {
		return err
	}
	for _, v := range j.Verdicts {
		for _, d := range s.Designs {
			if d.Name == v.Subject {
				e := v.First.Trimmed
				d.Pairs = append(d.Pairs, Pair{
					Name:       fmt.Sprintf("%s: %s against %s", v.Pair, v.B, v.A),
					Effect:     fmt.Sprintf("%+.2f [%+.2f, %+.2f]", e.Value, e.Low, e.High),
					Detectable: fmt.Sprintf("%.2f", v.First.Detectable), Outcome: v.Remark(),
				})
			}
		}
	}
	return nil
}

// The plot in pixels.
const (
	plotWidth, plotHeight = 720, 420
	plotLeft, plotBottom  = 70, 380
)

// plot returns the designs by time and by overhead of a token, on logarithmic
// scales, as an SVG that takes the colours of its page.
func (s *site) plot() template.HTML {
	var x, y []float64
	for _, d := range s.Designs {
		if d.unsealNs > 0 && d.TokenSize > Size {
			x, y = append(x, math.Log(d.unsealNs)), append(y, math.Log(float64(d.TokenSize-Size)))
		}
	}
	if len(x) == 0 {
		return ""
	}
	across, up := scaleOf(x, plotLeft+10, plotWidth-170), scaleOf(y, plotBottom-10, 20)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="designs by time to open a token and by its overhead">`, plotWidth, plotHeight)
	fmt.Fprintf(&b, `<path fill="none" stroke="currentColor" d="M%d 10V%dH%d"/>`, plotLeft, plotBottom, plotWidth-10)
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">time to open, slower &#8594;</text>`, plotWidth-10, plotHeight-15)
	fmt.Fprintf(&b, `<text x="%d" y="%d" transform="rotate(-90 20 200)" text-anchor="middle">bytes added, more &#8594;</text>`, 20, 200)
	for _, d := range s.Designs {
		if d.unsealNs <= 0 || d.TokenSize <= Size {
			continue
		}
		px, py := across(math.Log(d.unsealNs)), up(math.Log(float64(d.TokenSize-Size)))
		name := template.HTMLEscapeString(d.Name)
		fmt.Fprintf(&b, `<a href="%s"><circle cx="%.1f" cy="%.1f" r="4"/><text x="%.1f" y="%.1f">%s</text><title>%s: %s, %d bytes</title></a>`,
			template.HTMLEscapeString(d.File), px, py, px+7, py+4, name, name, d.Unseal, d.TokenSize)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // every name in it is escaped
}

// scaleOf returns the function that maps values to pixels from first to last.
func scaleOf(values []float64, first, last float64) func(float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	if high == low {
		high++
	}
	return func(v float64) float64 { return first + (v-low)/(high-low)*(last-first) }
}
