package report

import (
	"fmt"
	"strings"

	"sealab/internal/page"
)

// The layout of a curve, in pixels.
const (
	curveWidth, curveHeight = 420, 220
	curveLeft, curveRight   = 60, 400
	curveTop, curveBottom   = 34, 172
)

// Picture draws the coverage over the time of the target as an SVG file. The
// vertical axis begins at the first coverage, so that late inputs show.
func (t TargetStatus) Picture() []byte {
	d := page.New(curveWidth, curveHeight, t.Name+": coverage, bits of the engine's counters")
	if len(t.Curve) == 0 {
		d.Text(curveWidth/2, (curveTop+curveBottom)/2, "middle", "no data yet")
		return d.Bytes()
	}
	first, last := t.Curve[0], t.Curve[len(t.Curve)-1]
	unit, perUnit := timeUnit(last.Seconds)
	across := page.Scale{From: 0, To: max(last.Seconds, 1) / perUnit, First: curveLeft, Last: curveRight}
	up := page.Scale{From: float64(first.Coverage), To: float64(max(last.Coverage, first.Coverage+5)), First: curveBottom, Last: curveTop}
	for _, v := range up.Ticks() {
		d.Line(curveLeft, up.At(v), curveRight, up.At(v), page.Grey)
		d.Text(curveLeft-6, up.At(v)+4, "end", fmt.Sprintf("%.0f", v))
	}
	for _, v := range across.Ticks() {
		d.Line(across.At(v), curveBottom, across.At(v), curveBottom+4, page.Dark)
		d.Text(across.At(v), curveBottom+17, "middle", fmt.Sprintf("%.4g", v))
	}
	d.Line(curveLeft, curveBottom, curveRight, curveBottom, page.Dark)
	d.Line(curveLeft, curveTop, curveLeft, curveBottom, page.Dark)
	d.Text((curveLeft+curveRight)/2, curveHeight-8, "middle", "time of the target, "+unit+" of one core")
	var points strings.Builder
	for _, p := range thin(t.Curve, curveRight-curveLeft) {
		fmt.Fprintf(&points, "%.1f,%.1f ", across.At(p.Seconds/perUnit), up.At(float64(p.Coverage)))
	}
	fmt.Fprintf(d, `<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`+"\n", page.Dark, strings.TrimSpace(points.String()))
	d.Dot(across.At(last.Seconds/perUnit), up.At(float64(last.Coverage)), 3, page.Dark) // a single point has no line
	return d.Bytes()
}

// timeUnit returns a unit for so many seconds, and its length in seconds.
func timeUnit(seconds float64) (unit string, perUnit float64) {
	switch {
	case seconds < 180:
		return "seconds", 1
	case seconds < 3*3600:
		return "minutes", 60
	}
	return "hours", 3600
}

// thin returns at most about n points, with the first and the last.
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
