package campaign

import (
	"fmt"
	"html/template"
	"strings"

	"sealab/internal/svg"
)

// The layout of a curve, in pixels.
const (
	curveWidth, curveHeight = 420, 220
	curveLeft, curveRight   = 60, 400
	curveTop, curveBottom   = 34, 172
)

// Picture is the coverage over the time in which the target ran, as an SVG
// file. The vertical axis begins at the first coverage and not at zero, so that
// what is found late is seen.
func (t TargetStatus) Picture() []byte {
	d := svg.New(curveWidth, curveHeight, t.title())
	if len(t.Curve) == 0 {
		d.Text(curveWidth/2, (curveTop+curveBottom)/2, "middle", "nothing recorded yet")
		return d.Bytes()
	}
	unit, perUnit := timeUnit(t.last().Seconds)
	across := svg.Scale{From: 0, To: max(t.last().Seconds, 1) / perUnit, First: curveLeft, Last: curveRight}
	up := svg.Scale{From: float64(t.Curve[0].Coverage), To: float64(max(t.last().Coverage, t.Curve[0].Coverage+5)), First: curveBottom, Last: curveTop}
	for _, v := range up.Ticks() {
		d.Line(curveLeft, up.At(v), curveRight, up.At(v), svg.Grey)
		d.Text(curveLeft-6, up.At(v)+4, "end", fmt.Sprintf("%.0f", v))
	}
	for _, v := range across.Ticks() {
		d.Line(across.At(v), curveBottom, across.At(v), curveBottom+4, svg.Dark)
		d.Text(across.At(v), curveBottom+17, "middle", fmt.Sprintf("%.4g", v))
	}
	d.Line(curveLeft, curveBottom, curveRight, curveBottom, svg.Dark)
	d.Line(curveLeft, curveTop, curveLeft, curveBottom, svg.Dark)
	d.Text((curveLeft+curveRight)/2, curveHeight-8, "middle", "time that the target ran, "+unit+" of one core")
	fmt.Fprintf(d, `<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`+"\n", svg.Dark, t.polyline(across, up, perUnit))
	d.Dot(across.At(t.last().Seconds/perUnit), up.At(float64(t.last().Coverage)), 3, svg.Dark) // one point alone makes no line
	return d.Bytes()
}

// SVG is the picture, to be put into a page.
func (t TargetStatus) SVG() template.HTML { return template.HTML(t.Picture()) } // of numbers and escaped text

func (t TargetStatus) title() string {
	return fmt.Sprintf("%s: coverage, bits of the engine's counters", t.Name)
}

func (t TargetStatus) last() Point { return t.Curve[len(t.Curve)-1] }

// timeUnit returns the unit in which so many seconds are read best, and its seconds.
func timeUnit(seconds float64) (unit string, perUnit float64) {
	switch {
	case seconds < 180:
		return "seconds", 1
	case seconds < 3*3600:
		return "minutes", 60
	}
	return "hours", 3600
}

func (t TargetStatus) polyline(across, up svg.Scale, perUnit float64) string {
	var b strings.Builder
	for _, p := range thin(t.Curve, curveRight-curveLeft) {
		fmt.Fprintf(&b, "%.1f,%.1f ", across.At(p.Seconds/perUnit), up.At(float64(p.Coverage)))
	}
	return strings.TrimSpace(b.String())
}

// thin returns at most about n points, the first and last among them.
func thin(points []Point, n int) []Point {
	step := len(points)/n + 1
	var kept []Point
	for i := 0; i < len(points); i += step {
		kept = append(kept, points[i])
	}
	if last := points[len(points)-1]; kept[len(kept)-1] != last {
		kept = append(kept, last)
	}
	return kept
}
