package site

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"sealab/analysis/throughput"
	"sealab/internal/page"
	"sealab/internal/runfile"
)

// A benchRun is a benchmark run.
type benchRun struct {
	*throughput.Run
	Places []throughput.Measurement
	Noise  string
	noise  float64 // as a share; 0 if not tested
	Checks []throughput.Check
	at     map[throughput.Place]*throughput.Measurement
}

func newBenchRun(run *throughput.Run) (_ *benchRun, err error) {
	b := &benchRun{Run: run, at: map[throughput.Place]*throughput.Measurement{}, Noise: NotTested}
	if b.Places, err = run.Measurements(); err != nil {
		return nil, err
	}
	for i := range b.Places {
		b.at[b.Places[i].Place] = &b.Places[i]
	}
	ratios, err := run.Ratios()
	if err != nil {
		return nil, err
	}
	if share, cells := throughput.Noise(ratios); cells > 0 {
		b.Noise, b.noise = fmt.Sprintf("%.1f %%", 100*share), share
	}
	b.Checks = run.Checks(ratios)
	return b, nil
}

// sizeText formats a number of bytes with three digits and a unit.
func sizeText(n float64) string {
	switch {
	case n >= 1000<<10:
		return fmt.Sprintf("%.3g MiB", n/(1<<20))
	case n >= 1024:
		return fmt.Sprintf("%.3g KiB", n/1024)
	}
	return fmt.Sprintf("%.4g B", n)
}

// A benchPage is the data of the page of a benchmark run.
type benchPage struct {
	*benchRun
	When       string
	Reached    int
	Table      template.HTML
	Thresholds template.HTML
}

func (s *site) writeBench() error {
	if s.Bench == nil {
		return s.missing("bench.html", "Benchmark", "make bench", "compare.html", "history.html")
	}
	p := benchPage{benchRun: s.Bench, When: stampOf(s.Bench.Path), Table: s.Bench.table(), Thresholds: s.Bench.thresholds()}
	for _, c := range s.Bench.Checks {
		if c.Reached() {
			p.Reached++
		}
	}
	if err := s.add("bench.html", "Benchmark", "Benchmark", "The time of every operation at every size, with intervals, allocations and thresholds.", "bench", p); err != nil || s.alone() {
		return err
	}
	if err := s.writeHistory(); err != nil {
		return err
	}
	if s.Older == nil {
		return s.missing("compare.html", "Compare", "make bench, twice")
	}
	return s.writeComparison(s.Older.Path, s.Bench.Path)
}

// missing writes pages that explain how to make the missing run.
func (s *site) missing(file, section, command string, others ...string) error {
	for _, f := range append(others, file) {
		if err := s.add(f, section, section, "Not tested: the results have no such run.", "missing", command); err != nil {
			return err
		}
	}
	return nil
}

func (b *benchRun) table() template.HTML {
	t := page.Table{Caption: "Median times, 95 % intervals", Tall: true, Columns: page.Head("subject", "operation", "#payload", "#median", "#interval", "#MB/s", "#allocations", "#token, bytes", "ratio")}
	tools := page.Tools{Search: "search", Hint: "for example aes-256-gcm unseal"}
	var ops, sizes []string
	roles := map[string]string{}
	for _, x := range b.Subjects {
		roles[x.Name] = string(x.Role)
	}
	for _, m := range b.Places {
		size := strings.ReplaceAll(throughput.Size(m.Size), " ", " ")
		ops, sizes = append(ops, string(m.Op)), append(sizes, size)
		t.Rows = append(t.Rows, page.Row{
			Data: map[string]string{"op": string(m.Op), "size": size, "role": roles[m.Subject]},
			Cells: []page.Cell{
				{Text: m.Subject}, {Text: string(m.Op)}, {Text: size, Sort: fmt.Sprint(m.Size)}, {Text: throughput.Duration(m.Ns), Sort: fmt.Sprint(m.Ns)},
				{Text: throughput.Duration(m.Low) + " to " + throughput.Duration(m.High), Sort: fmt.Sprint(m.High - m.Low)}, {Text: rateText(float64(m.Size) / m.Ns * 1e3)},
				{Text: m.Allocs}, {Text: fmt.Sprint(m.TokenSize)}, {Text: m.Ratio},
			},
		})
	}
	roleNames := []string{string(runfile.RoleDesign), string(runfile.RoleScheme), string(runfile.RoleBaseline), string(runfile.RoleLibrary), string(runfile.RoleSDK), string(runfile.RoleRepeat)}
	tools.Facets = []page.Facet{{Label: "operation", Key: "op", Values: distinctTexts(ops)}, {Label: "payload", Key: "size", Values: distinctTexts(sizes)}, {Label: "role", Key: "role", Values: roleNames}}
	t.Tools = &tools
	return t.HTML()
}

// rateText formats megabytes per second with at least three digits.
func rateText(rate float64) string {
	if rate >= 100 {
		return fmt.Sprintf("%.0f", rate)
	}
	return fmt.Sprintf("%.3g", rate)
}

// missedText returns text that says how far a value is from its threshold.
func missedText(short float64) string {
	if short >= 1 {
		return fmt.Sprintf("missed: %.3g × the threshold", 1+short)
	}
	return fmt.Sprintf("missed by %.1f %%", 100*short)
}

// distinctTexts returns the texts without duplicates, in order of first occurrence.
func distinctTexts(all []string) []string {
	var once []string
	for _, text := range all {
		if !slices.Contains(once, text) {
			once = append(once, text)
		}
	}
	return once
}

// thresholds returns a table of the checks, missed ones first.
func (b *benchRun) thresholds() template.HTML {
	t := page.Table{Caption: "Thresholds, those that are missed first", Tall: true, Columns: page.Head("ratio", "#payload", "#value", "threshold", "outcome")}
	missed := slices.DeleteFunc(slices.Clone(b.Checks), throughput.Check.Reached)
	reached := slices.DeleteFunc(slices.Clone(b.Checks), func(c throughput.Check) bool { return !c.Reached() })
	for _, c := range slices.Concat(missed, reached) {
		outcome := page.Cell{Text: "reached", Class: "good"}
		if !c.Reached() {
			outcome = page.Cell{Text: missedText(c.Short()), Class: "bad"}
		}
		if !c.Sure() {
			outcome.Text, outcome.Class = outcome.Text+", in doubt", "warn"
		}
		t.Rows = append(t.Rows, page.Row{Cells: []page.Cell{
			{Text: c.Label()}, {Text: throughput.Size(c.Of.Size), Sort: fmt.Sprint(c.Of.Size)}, {Text: strings.TrimLeft(c.Mark(), "!~")}, {Text: c.Threshold.String()}, outcome,
		}})
	}
	return t.HTML()
}

// A comparisonPage is the data of the page that compares two runs.
type comparisonPage struct {
	*throughput.Comparison
	Older, Newer, Command string
	Means, Table          template.HTML
	Regressions           int
}

func (s *site) writeComparison(older, newer string) error {
	c, err := throughput.Compare(older, newer, "*")
	if err != nil {
		return err
	}
	p := comparisonPage{Comparison: c, Older: stampOf(older), Newer: stampOf(newer), Command: "sealab compare " + older + " " + newer, Regressions: len(c.Regressed())}
	means := page.Table{Caption: "Geometric means of the changes", Plain: true, Slim: true}
	for i, row := range c.Means() {
		if i == 0 {
			means.Columns = page.Head(row[0], row[1])
			for _, name := range row[2:] {
				means.Columns = append(means.Columns, page.Column{Name: name, Number: true})
			}
			continue
		}
		means.Add(row...)
	}
	p.Means, p.Table = means.HTML(), changesTable(c)
	return s.add("compare.html", "Compare", "Comparison of two runs", "Changes between the newest run and an older one: regressions first, then by size.", "compare", p)
}

// wordClass maps a word for a change to its CSS class.
var wordClass = map[string]string{"regressed": "bad", "worse": "bad", "improved": "good", "within noise": "quiet", "not ours": "quiet", "unchanged": "quiet"}

// changesTable returns a table of the changes of a comparison. It omits counts that are equal in both
// runs.
func changesTable(c *throughput.Comparison) template.HTML {
	t := page.Table{Caption: "Changes", Tall: true, Columns: page.Head("measurement", "unit", "#older", "#newer", "#change", "outcome")}
	t.Tools = &page.Tools{
		Search: "filter in the syntax of benchproc", Syntax: "benchproc", Hint: "/op:(seal OR unseal) /size:1024 .unit:sec/op",
		Facets: []page.Facet{{Label: "outcome", Key: "word", Values: []string{"regressed", "worse", "improved", "within-noise", "not-ours", "unchanged"}}},
	}
	for _, ch := range c.Changes {
		if ch.Unit != "sec/op" && ch.Old.Center == ch.New.Center {
			continue
		}
		unit, older, newer, share := ch.Texts()
		name := ch.Name
		if ch.Size > 0 {
			name = runfile.Name(ch.Subject.Name, ch.Op, ch.Size)
		}
		t.Rows = append(t.Rows, page.Row{
			Data: map[string]string{"name": name, "unit": ch.Unit, "word": strings.ReplaceAll(ch.Word(), " ", "-")},
			Cells: []page.Cell{
				{Text: ch.Name}, {Text: unit}, {Text: older, Sort: fmt.Sprint(ch.Old.Center)}, {Text: newer, Sort: fmt.Sprint(ch.New.Center)},
				{Text: share, Sort: fmt.Sprint(ch.Share())}, {Text: ch.Word(), Class: wordClass[ch.Word()]},
			},
		})
	}
	return t.HTML()
}

// A historyPage is the data of the page with the history of runs.
type historyPage struct {
	Runs, Table, Chart template.HTML
	Points             int
}

// writeHistory writes the page with the history of runs. A change point is a significant step between two
// consecutive runs.
func (s *site) writeHistory() error {
	p := historyPage{}
	runs := page.Table{Caption: "Runs", Columns: page.Head("run", "commit", "toolchain", "processor", "host", "#rounds", "#noise floor")}
	for _, b := range s.History {
		runs.Add(stampOf(b.Path), b.commit(), b.Stamp["toolchain"], b.Stamp["cpu"], b.Stamp["host"], fmt.Sprint(b.Rounds()), b.Noise)
	}
	steps := make([]map[throughput.Place]throughput.Change, len(s.History))
	for i := 1; i < len(s.History); i++ {
		c, err := throughput.Compare(s.History[i-1].Path, s.History[i].Path, ".unit:sec/op")
		if err != nil {
			return err
		}
		steps[i] = map[throughput.Place]throughput.Change{}
		for _, ch := range c.Changes {
			if ch.Differs && ch.Beyond && ch.Size > 0 {
				steps[i][throughput.Place{Subject: ch.Subject.Name, Op: ch.Op, Size: ch.Size}] = ch
			}
		}
	}
	p.Runs, p.Chart = runs.HTML(), s.trend()
	p.Table, p.Points = s.series(steps)
	return s.add("history.html", "History", "History", "Every run of the results, the oldest first, with the change points between runs.", "history", p)
}

// series returns a row for each measurement at Size with its value in each run. Rows with the largest
// change points come first.
func (s *site) series(steps []map[throughput.Place]throughput.Change) (template.HTML, int) {
	t := page.Table{Caption: "Median times of designs, payload of 1 KiB", Tall: true, Columns: page.Head("design", "operation"), Tools: &page.Tools{
		Search: "search", Facets: []page.Facet{{Label: "change point", Key: "step", Values: []string{"slower", "faster", "none"}}}}}
	for _, b := range s.History {
		t.Columns = append(t.Columns, page.Column{Name: b.commit(), Number: true})
	}
	t.Columns = append(t.Columns, page.Column{Name: "change points", Number: true})
	points := 0
	type ranked struct {
		row    page.Row
		effect float64 // of the largest change point
	}
	var all []ranked
	for _, m := range s.Bench.Places {
		if x := s.Bench.subject(m.Subject); m.Size != Size || x.Role != runfile.RoleDesign && x.Role != runfile.RoleScheme {
			continue
		}
		row := page.Row{Data: map[string]string{"step": "none"}, Cells: []page.Cell{{Text: m.Subject}, {Text: string(m.Op)}}}
		steep, largest := 0, 0.0
		for i, b := range s.History {
			cell := page.Cell{Text: "–", Sort: "1e99"}
			if old := b.at[m.Place]; old != nil {
				cell = page.Cell{Text: throughput.Duration(old.Ns), Sort: fmt.Sprint(old.Ns)}
			}
			if ch, ok := steps[i][m.Place]; ok {
				points++
				steep++
				word, class := "faster", "good"
				if ch.Worse {
					word, class = "slower", "bad"
				}
				row.Data["step"] = strings.TrimSpace(strings.TrimPrefix(row.Data["step"], "none") + " " + word)
				largest = max(largest, math.Abs(math.Log1p(ch.Share())))
				pill := fmt.Sprintf(`<span class="pill %s">%+.0f %%<span class="vh"> %s</span></span> %s`, class, 100*ch.Share(), word, cell.Text)
				cell.HTML = template.HTML(pill) //nolint:gosec // numbers and words of this package
			}
			row.Cells = append(row.Cells, cell)
		}
		row.Cells = append(row.Cells, page.Cell{Text: fmt.Sprint(steep)})
		all = append(all, ranked{row, largest})
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(b.effect, a.effect) })
	for _, r := range all {
		t.Rows = append(t.Rows, r.row)
	}
	return t.HTML(), points
}

// commit returns the first seven characters of the run's commit.
func (b *benchRun) commit() string { return b.Stamp["commit"][:min(7, len(b.Stamp["commit"]))] }

func (b *benchRun) subject(name string) runfile.Subject {
	i := slices.IndexFunc(b.Subjects, func(x runfile.Subject) bool { return x.Name == name })
	if i < 0 {
		return runfile.Subject{}
	}
	return b.Subjects[i]
}

// trend returns a chart of the geometric means of all runs, relative to the oldest, over the measurements
// in every run.
func (s *site) trend() template.HTML {
	if len(s.History) < 2 {
		return ""
	}
	chart := page.Chart{
		Title: "Time relative to the oldest run", Note: "Geometric means over the measurements that all runs have. Baselines show the machine.",
		X: page.Axis{Label: "commit of the run →", Text: func(v float64) string {
			if v != math.Trunc(v) {
				return ""
			}
			return s.History[int(v)].commit()
		}},
		Y: page.Axis{Label: "relative time", Text: func(v float64) string { return fmt.Sprintf("%.2f", v) }}, Height: 280, Wide: true,
	}
	for _, group := range []struct {
		name string
		role runfile.Role
		op   runfile.Op
	}{{"codecs, seal", runfile.RoleDesign, runfile.Seal}, {"codecs, open", runfile.RoleDesign, runfile.Unseal},
		{"schemes, open", runfile.RoleScheme, runfile.Unseal}, {"baselines, open", runfile.RoleBaseline, runfile.Unseal}} {
		series := page.Series{Name: group.name, Line: true, Quiet: group.role == runfile.RoleBaseline}
		for i, b := range s.History {
			if mean, ok := s.mean(b, group.role, group.op); ok {
				series.Points = append(series.Points, page.Point{X: float64(i), Y: mean})
			}
		}
		chart.Series = append(chart.Series, series)
	}
	return chart.HTML()
}

// mean returns the geometric mean of a run's times relative to the oldest run.
func (s *site) mean(b *benchRun, role runfile.Role, op runfile.Op) (float64, bool) {
	sum, n := 0.0, 0
	for place, first := range s.History[0].at {
		if place.Op != op || s.Bench.subject(place.Subject).Role != role {
			continue
		}
		everywhere := !slices.ContainsFunc(s.History, func(x *benchRun) bool { return x.at[place] == nil })
		if everywhere {
			sum += math.Log(b.at[place].Ns / first.Ns)
			n++
		}
	}
	return math.Exp(sum / float64(n)), n > 0
}
