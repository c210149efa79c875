package page

import (
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strings"
)

// An Axis describes the scale of one direction of a chart.
type Axis struct {
	Label string
	Log   bool
	Zero  bool                 // begins at 0
	Text  func(float64) string // formats a value; nil means %g
	Marks []float64            // values to mark; nil means round numbers
}

// A Point is one value with its interval. Low equal to High means no interval.
type Point struct {
	X, Y, Low, High    float64
	Label, Title, Href string            // if the point is a link
	Data               map[string]string // for filters
}

// A Series is a set of points of one color.
type Series struct {
	Name   string
	Points []Point
	Line   bool // connect the points
	Quiet  bool // grey, for comparison
}

// A Chart is series over two axes.
type Chart struct {
	Title, Note string
	X, Y        Axis
	Series      []Series
	Height      int // 0: 340
	Wide        bool
}

// The margins and text sizes of a chart in SVG units.
const (
	chartRight              = 14
	chartTop, chartBottom   = 12, 50
	labelWidth, labelHeight = 7.0, 13.0 // of one character
)

// A frame is the size of a drawing. Each chart is drawn twice: the style sheet shows the narrow drawing on
// a phone.
type frame struct {
	class               string
	width, height, left float64
}

// frames returns the two sizes in which the chart is drawn.
func (c Chart) frames() [2]frame {
	height := float64(c.Height)
	if height == 0 {
		height = 340
	}
	broad := frame{"chart broad", 640, height, 74}
	if c.Wide {
		broad = frame{"chart broad wide", 880, height, 74}
	}
	return [2]frame{broad, {"chart narrow", 340, 0.85 * height, 56}}
}

// A scale maps values to SVG units.
type scale struct {
	Axis
	low, high, first, last float64
}

func (a Axis) fit(values []float64, first, last float64) scale {
	s := scale{a, math.Inf(1), math.Inf(-1), first, last}
	for _, v := range values {
		s.low, s.high = min(s.low, s.place(v)), max(s.high, s.place(v))
	}
	if a.Zero {
		s.low = min(s.low, 0)
	}
	if s.high == s.low {
		s.high++
	}
	if pad := (s.high - s.low) * 0.04; !a.Zero {
		s.low -= pad
		s.high += pad
	} else {
		s.high += pad
	}
	return s
}

// place returns v, or its logarithm on a logarithmic axis.
func (a Axis) place(v float64) float64 {
	if a.Log {
		return math.Log10(v)
	}
	return v
}

func (s scale) at(v float64) float64 {
	return s.first + (s.place(v)-s.low)/(s.high-s.low)*(s.last-s.first)
}

// ticks returns round values within the scale.
func (s scale) ticks() []float64 {
	if s.Marks != nil {
		return slices.DeleteFunc(slices.Clone(s.Marks), func(v float64) bool { return s.place(v) < s.low || s.place(v) > s.high })
	}
	if !s.Log {
		step := math.Pow(10, math.Floor(math.Log10((s.high-s.low)/3)))
		for (s.high-s.low)/step > 6 {
			step *= 2
		}
		var all []float64
		for v := math.Ceil(s.low/step) * step; v <= s.high; v += step {
			all = append(all, v)
		}
		return all
	}
	for _, factors := range [][]float64{{1}, {1, 3}, {1, 2, 5}, {1, 1.5, 2, 3, 4, 5, 6, 8}} {
		var all []float64
		for e := math.Floor(s.low); e <= s.high; e++ {
			for _, f := range factors {
				if v := f * math.Pow(10, e); s.place(v) >= s.low && s.place(v) <= s.high {
					all = append(all, v)
				}
			}
		}
		if len(all) >= 3 {
			return all
		}
	}
	return []float64{math.Pow(10, s.low), math.Pow(10, s.high)}
}

func (a Axis) text(v float64) string {
	if a.Text != nil {
		return a.Text(v)
	}
	return fmt.Sprintf("%.4g", v)
}

// HTML returns the chart as a figure, with a table of its numbers.
func (c Chart) HTML() template.HTML {
	var xs, ys []float64
	for _, s := range c.Series {
		for _, p := range s.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
			if p.Low < p.High {
				ys = append(ys, p.Low, p.High)
			}
		}
	}
	if len(xs) == 0 {
		return ""
	}
	drawings := ""
	for _, f := range c.frames() {
		drawings += c.draw(f, xs, ys)
	}
	return template.HTML("<figure><figcaption>" + esc(c.Title) + "</figcaption>" + c.note() + c.legend() + drawings + //nolint:gosec // escaped
		"<details><summary>The numbers</summary>" + string(c.table().HTML()) + "</details></figure>")
}

// draw returns the chart in a frame.
func (c Chart) draw(f frame, xs, ys []float64) string {
	d := &drawing{frame: f, bottom: f.height - chartBottom}
	d.x = c.X.fit(xs, d.left, d.width-chartRight)
	d.y = c.Y.fit(ys, d.bottom, chartTop)
	fmt.Fprintf(d, `<svg class="%s" viewBox="0 0 %.0f %.0f" role="group" aria-label="%s">`, d.class, d.width, d.height, esc(c.Title))
	d.axes()
	for i := len(c.Series) - 1; i >= 0; i-- {
		d.line(c.Series[i], class(c.Series, i))
		for _, p := range c.Series[i].Points {
			d.taken = append(d.taken, [4]float64{d.x.at(p.X) - 5, d.y.at(p.Y) - 5, 10, 10})
		}
	}
	for i := len(c.Series) - 1; i >= 0; i-- {
		d.points(c.Series[i], i, class(c.Series, i))
	}
	return d.String() + "</svg>"
}

func (c Chart) note() string {
	if c.Note == "" {
		return ""
	}
	return "<p>" + esc(c.Note) + "</p>"
}

// class returns the CSS class of a series, which sets its color.
func class(all []Series, i int) string {
	if all[i].Quiet {
		return "cq"
	}
	return fmt.Sprintf("c%d", i%8)
}

func (c Chart) legend() string {
	if len(c.Series) < 2 {
		return ""
	}
	var b strings.Builder
	b.WriteString(`<ul class="legend">`)
	for i, s := range c.Series {
		fmt.Fprintf(&b, `<li><svg viewBox="-7 -7 14 14" aria-hidden="true">%s</svg>%s</li>`, mark(i, 0, 0, class(c.Series, i)), esc(s.Name))
	}
	return b.String() + "</ul>"
}

// table returns a table of the chart's numbers.
func (c Chart) table() Table {
	t := Table{Caption: c.Title + ": the numbers", Tall: true, Columns: Head("series", "#"+c.X.Label, "#"+c.Y.Label, "#95 % interval")}
	for _, s := range c.Series {
		for _, p := range s.Points {
			name, interval := s.Name, ""
			if p.Label != "" {
				name = p.Label
			}
			if p.Low < p.High {
				interval = c.Y.text(p.Low) + " to " + c.Y.text(p.High)
			}
			t.Add(name, c.X.text(p.X), c.Y.text(p.Y), interval)
		}
	}
	return t
}

// A drawing is the SVG of a chart under construction.
type drawing struct {
	strings.Builder
	frame
	x, y   scale
	bottom float64
	taken  [][4]float64 // boxes of labels and points
}

func (d *drawing) axes() {
	for _, v := range d.y.ticks() {
		y := d.y.at(v)
		fmt.Fprintf(d, `<path class="grid" d="M%.0f %.1fH%.0f"/><text x="%.0f" y="%.1f" text-anchor="end">%s</text>`,
			d.left, y, d.width-chartRight, d.left-8, y+4, esc(d.y.text(v)))
	}
	last := math.Inf(-1)
	for _, v := range d.x.ticks() {
		x := d.x.at(v)
		if x-last < 50 || d.x.text(v) == "" {
			continue
		}
		last = x
		fmt.Fprintf(d, `<path class="grid" d="M%.1f %dV%.1f"/><text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`,
			x, chartTop, d.bottom, x, d.bottom+18, esc(d.x.text(v)))
	}
	fmt.Fprintf(d, `<path class="axis" d="M%.0f %.1fH%.0f"/>`, d.left, d.bottom, d.width-chartRight)
	fmt.Fprintf(d, `<text x="%.0f" y="%.1f" text-anchor="end">%s</text>`, d.width-chartRight, d.height-8, esc(d.x.Label))
	fmt.Fprintf(d, `<text x="%d" y="%.1f">%s</text>`, 0, d.height-8, esc("↑ "+d.y.Label))
}

func (d *drawing) line(s Series, class string) {
	if !s.Line || len(s.Points) == 0 {
		return
	}
	var path, up, down strings.Builder
	band := false
	for i, p := range s.Points {
		letter := "L"
		if i == 0 {
			letter = "M"
		}
		x := d.x.at(p.X)
		fmt.Fprintf(&path, "%s%.1f %.1f", letter, x, d.y.at(p.Y))
		low, high := p.Low, p.High
		if low >= high {
			low, high = p.Y, p.Y
		} else {
			band = true
		}
		fmt.Fprintf(&up, "%s%.1f %.1f", letter, x, d.y.at(high))
		back := fmt.Sprintf("L%.1f %.1f", x, d.y.at(low)) + down.String()
		down.Reset()
		down.WriteString(back)
	}
	if band {
		fmt.Fprintf(d, `<path class="band %s" d="%s%sz"/>`, class, up.String(), down.String())
	}
	fmt.Fprintf(d, `<path class="%s line" d="%s"/>`, class, path.String())
}

func (d *drawing) points(s Series, shape int, class string) {
	dense := s.Line && len(s.Points) > 24
	for i, p := range s.Points {
		x, y := d.x.at(p.X), d.y.at(p.Y)
		if dense && i != len(s.Points)-1 {
			continue
		}
		if p.Low < p.High {
			fmt.Fprintf(d, `<path class="whisker %s" d="M%.1f %.1fV%.1f"/>`, class, x, d.y.at(p.Low), d.y.at(p.High))
		}
		if p.Href == "" {
			d.WriteString(mark(shape, x, y, class))
			continue
		}
		data := ""
		for _, k := range slices.Sorted(maps.Keys(p.Data)) {
			data += fmt.Sprintf(` data-%s="%s"`, esc(k), esc(p.Data[k]))
		}
		fmt.Fprintf(d, `<a href="%s" data-item=""%s><title>%s</title><circle cx="%.1f" cy="%.1f" r="12" fill="transparent"/>%s`,
			esc(p.Href), data, esc(p.Title), x, y, mark(shape, x, y, class))
		d.label(p.Label, x, y)
		d.WriteString("</a>")
	}
}

// label writes the name of a point beside it if there is room. Otherwise the name is shown when the point
// has the pointer or the focus.
func (d *drawing) label(text string, x, y float64) {
	width := labelWidth * float64(len(text))
	for _, try := range []struct {
		anchor string
		dx, dy float64
		left   float64
	}{{"start", 8, 4, 8}, {"end", -8, 4, -8 - width}, {"middle", 0, -9, -width / 2}, {"middle", 0, 18, -width / 2}} {
		box := [4]float64{x + try.left, y + try.dy - 10, width, labelHeight}
		if box[0] < d.left || box[0]+box[2] > d.width || box[1] < 0 || box[1]+box[3] > d.bottom+2 || d.meets(box) {
			continue
		}
		d.taken = append(d.taken, box)
		fmt.Fprintf(d, `<text class="halo" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x+try.dx, y+try.dy, try.anchor, esc(text))
		return
	}
	anchor, dx := "start", 9.0
	if x+width > d.width-20 {
		anchor, dx = "end", -9
	}
	fmt.Fprintf(d, `<text class="late halo" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x+dx, y-8, anchor, esc(text))
}

func (d *drawing) meets(box [4]float64) bool {
	return slices.ContainsFunc(d.taken, func(t [4]float64) bool {
		return box[0] < t[0]+t[2] && t[0] < box[0]+box[2] && box[1] < t[1]+t[3] && t[1] < box[1]+box[3]
	})
}

// mark returns the symbol of a series, so that series differ in more than color.
func mark(shape int, x, y float64, class string) string {
	switch shape % 4 {
	case 1:
		return fmt.Sprintf(`<rect class="dot %s" x="%.1f" y="%.1f" width="8" height="8"/>`, class, x-4, y-4)
	case 2:
		return fmt.Sprintf(`<path class="dot %s" d="M%.1f %.1fl5 5l-5 5l-5 -5z"/>`, class, x, y-5)
	case 3:
		return fmt.Sprintf(`<path class="dot %s" d="M%.1f %.1fl5 9h-10z"/>`, class, x, y-5)
	}
	return fmt.Sprintf(`<circle class="dot %s" cx="%.1f" cy="%.1f" r="4.5"/>`, class, x, y)
}

// Interval returns a small picture of a value and its interval on a scale from -limit to limit.
func Interval(value, low, high, limit float64) template.HTML {
	at := func(v float64) float64 { return 72 + 66*max(-1, min(1, v/limit)) }
	return template.HTML(fmt.Sprintf(`<svg class="interval" viewBox="0 0 144 20" aria-hidden="true"><path class="grid" d="M6 10H138M72 2V18M6 5V15M138 5V15"/>`+ //nolint:gosec // numbers
		`<path class="c0 whisker" d="M%.1f 10H%.1f"/><circle class="c0" cx="%.1f" cy="10" r="3.5"/></svg>`, at(low), at(high), at(value)))
}

func esc(text string) string { return template.HTMLEscapeString(text) }

// Coverage returns the chart of a fuzz target's coverage over the time of one core.
func Coverage(name, note string, curve Series) template.HTML {
	unit := "seconds"
	if n := len(curve.Points); n > 0 && curve.Points[n-1].X >= 180 {
		unit = "minutes"
		curve.Points = slices.Clone(curve.Points)
		for i := range curve.Points {
			curve.Points[i].X /= 60
		}
	}
	return Chart{
		Title: name, Note: note, Height: 240, Series: []Series{curve},
		X: Axis{Label: unit + " of one core →", Zero: true, Text: func(v float64) string { return fmt.Sprintf("%.3g", v) }},
		Y: Axis{Label: "coverage, bits", Text: func(v float64) string { return fmt.Sprintf("%.0f", v) }},
	}.HTML()
}
