package campaign

import (
	"fmt"
	"html/template"
	"strings"
)

// The size of a curve, in units of its picture.
const (
	curveWidth  = 360
	curveHeight = 120
	curveMargin = 4
)

// SVG is the coverage over time as a picture. The vertical axis begins at the
// first coverage and not at zero, so that what is found late is seen.
func (t TargetStatus) SVG() template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="curve" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" aria-label="coverage of %s over time">`,
		curveWidth, curveHeight, template.HTMLEscapeString(t.Name))
	if points := t.polyline(); points != "" {
		fmt.Fprintf(&b, `<polyline fill="none" stroke="#2563eb" stroke-width="2" points="%s"/>`, points)
		x, y, _ := strings.Cut(points[strings.LastIndexByte(points, ' ')+1:], ",")
		fmt.Fprintf(&b, `<circle fill="#2563eb" r="3" cx="%s" cy="%s"/>`, x, y) // one point alone makes no line
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) // of numbers and an escaped name
}

func (t TargetStatus) polyline() string {
	if len(t.Curve) == 0 {
		return ""
	}
	first, last := t.Curve[0], t.Curve[len(t.Curve)-1]
	span := max(last.Time.Sub(first.Time).Seconds(), 1)
	rise := max(last.Coverage-first.Coverage, 1)
	var b strings.Builder
	for _, p := range thin(t.Curve, curveWidth) {
		x := curveMargin + (curveWidth-2*curveMargin)*p.Time.Sub(first.Time).Seconds()/span
		y := curveHeight - curveMargin - float64(curveHeight-2*curveMargin)*float64(p.Coverage-first.Coverage)/float64(rise)
		fmt.Fprintf(&b, "%.1f,%.1f ", x, y)
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
