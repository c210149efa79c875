package site

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sealab/analysis/choice"
	"sealab/analysis/findings"
	"sealab/analysis/throughput"
	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/internal/page"
	"sealab/internal/runfile"
	"sealab/internal/verdict"
)

type measurement = throughput.Measurement

// NotTested is the outcome of a property that is in no run.
const NotTested = "not tested"

// The claims of a design about a property.
const (
	statusClaimed    = "claimed"
	statusDisclaimed = "disclaimed"
	statusNotClaimed = "not claimed"
)

// A design is the data of one row of the home page and of one design's page.
type design struct {
	Name, Doc, Spec, Kind, File string
	Over                        string // the codec under claims
	Seal, Unseal                *measurement
	Guarantees                  []guarantee
	Findings                    []findings.Finding
	Taint                       *taintLine
	Vectors                     *vectorsFile
	Example                     string
	row                         codecs.Design
}

// A guarantee is a property with a design's claim and the outcome of attacks.
type guarantee struct {
	Property, Claim, Reason, Outcome string
	Class                            string // CSS class of the cell
}

func (s *site) newDesign(row codecs.Design, taint *taintRun) *design {
	d := &design{
		Name: row.Name, Doc: row.Doc, Spec: row.Spec, Kind: string(row.Kind()), File: fileOf(row.Name), Over: row.Over, row: row,
		Seal:    s.measurement(throughput.Place{Subject: row.Name, Op: runfile.Seal, Size: Size}),
		Unseal:  s.measurement(throughput.Place{Subject: row.Name, Op: runfile.Unseal, Size: Size}),
		Example: strings.Join(choice.Use(row), "\n"),
	}
	var outcomes map[string]string
	if s.Attack != nil {
		outcomes = s.Attack.outcomes[row.Name]
		for _, f := range s.Attack.Findings {
			if f.Location.Design == row.Name {
				d.Findings = append(d.Findings, f)
			}
		}
	}
	for _, info := range s.Properties {
		d.Guarantees = append(d.Guarantees, claimOutcome(row, info, outcomes))
	}
	if taint != nil {
		d.Taint = taint.lines[row.Name]
	}
	for i := range s.Vectors {
		if s.Vectors[i].Design == row.Name {
			d.Vectors = &s.Vectors[i]
		}
	}
	return d
}

func fileOf(name string) string { return "design-" + name + ".html" }

// claimOutcome returns a design's claim about a property and the outcome of attacks on it.
func claimOutcome(row codecs.Design, info codecs.PropertyInfo, outcomes map[string]string) guarantee {
	g := guarantee{Property: string(info.Property), Claim: statusNotClaimed, Outcome: NotTested}
	if said, ok := row.Guarantee(info.Property, nil); ok {
		g.Reason, g.Claim, g.Class = said.Reason, statusClaimed, "warn"
		if !said.Holds {
			g.Claim, g.Class = statusDisclaimed, "quiet"
		}
	}
	if g.Reason == "" && g.Claim == statusClaimed {
		g.Reason = info.Promise
	}
	if text := outcomes[g.Property]; text != "" && text != "-" {
		g.Outcome = text
	}
	switch {
	case g.Claim != statusClaimed:
	case strings.HasPrefix(g.Outcome, "refuted"):
		g.Class = "bad"
	case strings.HasPrefix(g.Outcome, "not refuted"):
		g.Class = "good"
	}
	return g
}

// A designPage is the data of a design's page.
type designPage struct {
	*design
	Layout, Claims, Timing template.HTML
	Curves                 []template.HTML
	Distributions          template.HTML
	Facts                  *lab.Facts
	Log2Tokens             string
	Log2Forgeries          string
	BenchRun, AttackRun    string
	List                   template.HTML
}

func (s *site) writeDesigns() error {
	for _, d := range s.Designs {
		p := designPage{design: d, Claims: d.claims(), Facts: lab.HooksOf(d.row).Facts, List: findingCards(d.Findings, nil)}
		if p.Facts != nil {
			if n := p.Facts.TokensPerKey(Size); !math.IsInf(n, 1) {
				p.Log2Tokens = fmt.Sprintf("2^%.4g", n)
			}
			if n := p.Facts.Log2Forgeries(Size); !math.IsInf(n, 1) {
				p.Log2Forgeries = fmt.Sprintf("2^%.4g", n)
			}
		}
		var err error
		if p.Layout, err = drawLayout(d.row); err != nil {
			return err
		}
		if p.Curves, err = s.curves(d); err != nil {
			return err
		}
		if s.Bench != nil {
			p.BenchRun = stampOf(s.Bench.Path)
		}
		if s.Attack != nil {
			p.AttackRun = stampOf(s.Attack.Path)
		}
		if p.Timing, p.Distributions, err = s.timings(d.Name); err != nil {
			return err
		}
		if err := s.add(d.File, "", d.Name, strings.ToUpper(d.Doc[:1])+d.Doc[1:]+".", "design", p); err != nil {
			return err
		}
	}
	return nil
}

// claims returns a table of the guarantees with their outcomes.
func (d *design) claims() template.HTML {
	t := page.Table{Caption: "Guarantees of " + d.Name, Columns: page.Head("property", "claim", "outcome of attacks", "meaning or reason")}
	for _, g := range d.Guarantees {
		if g.Claim == statusNotClaimed && g.Outcome == NotTested {
			continue
		}
		t.Rows = append(t.Rows, page.Row{ID: "g-" + g.Property, Cells: []page.Cell{
			{Text: g.Property}, {Text: g.Claim}, {Text: g.Outcome, Class: cmp.Or(g.Class, "quiet")}, {Text: g.Reason},
		}})
	}
	return t.HTML()
}

// maxLibraries is the largest number of libraries in a chart beside the design.
const maxLibraries = 3

// curves returns the charts of the time and token size of a design.
func (s *site) curves(d *design) ([]template.HTML, error) {
	var all []template.HTML
	for _, c := range []struct {
		op    runfile.Op
		title string
	}{{runfile.Seal, "Time to seal"}, {runfile.Unseal, "Time to open"}} {
		chart := page.Chart{
			Title: c.title, Note: "Medians with 95 % intervals, by payload size.",
			X: page.Axis{Label: "payload →", Log: true, Text: sizeText, Marks: sizeMarks}, Y: page.Axis{Label: "time", Log: true, Text: throughput.Duration},
		}
		for i, name := range s.beside(d.Name) {
			series := page.Series{Name: name, Line: true, Quiet: i > 1}
			for _, m := range s.Bench.Places {
				if m.Subject == name && m.Op == c.op {
					series.Points = append(series.Points, page.Point{X: float64(m.Size), Y: m.Ns, Low: m.Low, High: m.High})
				}
			}
			if len(series.Points) > 0 {
				chart.Series = append(chart.Series, series)
			}
		}
		if len(chart.Series) > 0 && chart.Series[0].Name == d.Name {
			all = append(all, chart.HTML())
		}
	}
	tokens, err := tokenCurve(d)
	return append(all, tokens), err
}

// beside returns the names of a design, its baseline and comparable Go libraries.
func (s *site) beside(name string) []string {
	if s.Bench == nil {
		return nil
	}
	subjects := s.Bench.Run.Subjects
	i := slices.IndexFunc(subjects, func(x runfile.Subject) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	ours, all := subjects[i], []string{name}
	libraries := 0
	for _, x := range subjects {
		switch {
		case x.Role == runfile.RoleBaseline && x.Primitive != "" && x.Primitive == ours.Primitive:
			all = slices.Insert(all, 1, x.Name)
		case x.Role == runfile.RoleLibrary && x.Kind == ours.Kind && libraries < maxLibraries,
			x.Role == runfile.RoleSDK && x.Mirrors == name:
			all = append(all, x.Name)
			libraries++
		}
	}
	return all
}

// sizeMarks are the marks of an axis in bytes.
var sizeMarks = []float64{16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10}

// tokenCurve returns the chart of token lengths.
func tokenCurve(d *design) (template.HTML, error) {
	chart := page.Chart{
		Title: "Token size", Note: "Measured lengths, beside the base64url of the bare payload.",
		X: page.Axis{Label: "payload →", Log: true, Text: sizeText, Marks: sizeMarks}, Y: page.Axis{Label: "token", Log: true, Text: sizeText, Marks: sizeMarks},
		Series: []page.Series{{Name: d.Name, Line: true}, {Name: "base64url of the payload", Line: true, Quiet: true}},
	}
	for n := 16; n <= 64<<10; n *= 4 {
		length, err := lab.TokenLength(d.row, n)
		if err != nil {
			return "", err
		}
		chart.Series[0].Points = append(chart.Series[0].Points, page.Point{X: float64(n), Y: float64(length)})
		chart.Series[1].Points = append(chart.Series[1].Points, page.Point{X: float64(n), Y: float64((4*n + 2) / 3)})
	}
	return chart.HTML(), nil
}

// timings returns the outcomes of timing probes of a design, and a picture of their distributions.
func (s *site) timings(name string) (outcomes, distributions template.HTML, err error) {
	t := page.Table{Caption: "Timing probes of " + name, Columns: page.Head("pair of inputs", "effect and its interval", "#effect, ns", "#minimum detectable effect, ns", "outcome")}
	if s.timing == nil {
		return "", "", nil
	}
	file := ""
	for _, v := range s.timing.Verdicts {
		if v.Subject != name {
			continue
		}
		e := v.First.Trimmed
		class := "quiet"
		switch {
		case v.Outcome == verdict.NotRefuted:
			class = "good"
		case v.Outcome == verdict.Refuted && v.Property != "":
			class = "bad"
		}
		t.Rows = append(t.Rows, page.Row{Cells: []page.Cell{
			{Text: v.Pair + ": " + v.B + " against " + v.A}, {HTML: page.Interval(e.Value, e.Low, e.High, max(v.Limit, 0.1))},
			{Text: fmt.Sprintf("%+.2f [%+.2f, %+.2f]", e.Value, e.Low, e.High), Sort: fmt.Sprint(e.Value)},
			{Text: fmt.Sprintf("%.2f", v.Detectable)}, {Text: v.Remark(), Class: pillClass(v.Remark(), class)},
		}})
		file = filepath.Join(s.timingDir, v.Picture())
	}
	if len(t.Rows) == 0 {
		return "", "", nil
	}
	picture, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return t.HTML(), "", nil
	}
	if err == nil {
		err = checkPicture(picture)
	}
	if err != nil {
		return "", "", fmt.Errorf("picture of %s: %w", name, err)
	}
	return t.HTML(), template.HTML(picture), nil //nolint:gosec // checked by checkPicture
}

// pillClass returns class, or "" if the text is too long for a pill.
func pillClass(text, class string) string {
	if len(text) > 40 {
		return ""
	}
	return class
}

// checkPicture returns an error unless a picture consists only of shapes and text.
func checkPicture(picture []byte) error {
	shapes := []string{"svg", "g", "rect", "text", "line", "circle", "path", "polyline", "title"}
	d := xml.NewDecoder(strings.NewReader(string(picture)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if !slices.Contains(shapes, start.Name.Local) {
			return fmt.Errorf("element %q: want shapes and text", start.Name.Local)
		}
		for _, a := range start.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || a.Name.Local == "style" {
				return fmt.Errorf("attribute %q: want shapes and text", a.Name.Local)
			}
		}
	}
}

// samplePayload is the payload of the tokens that are drawn.
const samplePayload = `{"step":2,"user":"alice"}`

// The layout of a drawn token, in pixels. It is drawn twice: the style sheet shows the narrow drawing on a
// phone.
const (
	byteWidth, byteHeight = 20, 22
	maxShown              = 64 // bytes of one field
)

var bytesPerLine = map[string]int{"broad": 32, "narrow": 15}

// drawLayout draws the bytes of a token, colored by field, with a table of the fields.
func drawLayout(d codecs.Design) (template.HTML, error) {
	token, err := lab.Sample(d, []byte(samplePayload))
	if err != nil {
		return "", err
	}
	fields, err := lab.HooksOf(d).Inspect(token)
	if err != nil {
		return "", fmt.Errorf("inspecting a token of %s: %w", d.Name, err)
	}
	drawings := map[string]*strings.Builder{"broad": {}, "narrow": {}}
	t := page.Table{Caption: "Fields of the token", Plain: true, Slim: true, Columns: page.Head("field", "#offset", "#bytes", "shown to the client")}
	cell, offset := 0, 0
	for i, f := range fields {
		class := fmt.Sprintf("c%d", i%8)
		shown := min(len(f.Bytes), maxShown)
		for j := range shown {
			text := fmt.Sprintf("%02x", f.Bytes[j])
			if j == maxShown-1 && len(f.Bytes) > maxShown {
				text = "…"
			}
			for kind, n := range bytesPerLine {
				x, y := cell%n*byteWidth, cell/n*byteHeight
				fmt.Fprintf(drawings[kind], `<rect class="%s faint" x="%d.5" y="%d.5" width="%d" height="%d" rx="3"/><text class="byte" x="%d" y="%d" text-anchor="middle">%s</text>`,
					class, x, y, byteWidth-2, byteHeight-3, x+byteWidth/2, y+14, text)
			}
			cell++
		}
		swatch := template.HTML(`<svg class="swatch" viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">` + //nolint:gosec // a number
			fmt.Sprintf(`<rect class="%s faint" x="1" y="1" width="12" height="12" rx="3"/></svg>`, class))
		readable := "random, encrypted or a tag"
		if f.Readable {
			readable = "readable"
		}
		t.Rows = append(t.Rows, page.Row{Cells: []page.Cell{
			{HTML: `<span class="field">` + swatch + template.HTML(template.HTMLEscapeString(strings.TrimPrefix(string(f.Name), "wire-"))) + "</span>"}, //nolint:gosec // escaped
			{Text: fmt.Sprint(offset)}, {Text: fmt.Sprint(len(f.Bytes))}, {Text: readable},
		}})
		offset += len(f.Bytes)
	}
	picture := fmt.Sprintf(`<figure><figcaption>A token with the payload <code>%s</code></figcaption>`, template.HTMLEscapeString(samplePayload)) +
		`<div class="byte-scroll" role="region" aria-label="bytes of a token" tabindex="0">`
	for _, kind := range []string{"broad", "narrow"} {
		n := bytesPerLine[kind]
		picture += fmt.Sprintf(`<svg class="bytes %s" viewBox="0 0 %d %d" role="img" aria-label="the %d bytes of the token in hexadecimal, colored by field">%s</svg>`,
			kind, n*byteWidth, (cell+n-1)/n*byteHeight, offset, drawings[kind])
	}
	picture += fmt.Sprintf(`</div><p>Text on the wire, %d characters: <code>%s</code></p></figure>`, len(token), template.HTMLEscapeString(shortenToken(string(token))))
	return template.HTML(picture) + t.HTML(), nil //nolint:gosec // escaped
}

// shortenToken removes the middle of a long token.
func shortenToken(token string) string {
	if len(token) <= 200 {
		return token
	}
	return token[:160] + "…" + token[len(token)-30:]
}
