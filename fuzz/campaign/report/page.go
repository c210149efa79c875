package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"strings"
	"time"

	"sealab/internal/loopback"
	"sealab/internal/page"
)

//go:embed page.html
var bodyText string

var body = template.Must(template.New("body").Parse(bodyText))

// reloadSeconds is the interval at which the page reloads.
const reloadSeconds = 5

type pageData struct {
	Status
	now time.Time
}

// Left returns the time until the campaign ends, or "" if it is unknown.
func (d pageData) Left() string {
	if d.Until.IsZero() {
		return ""
	}
	return max(0, d.Until.Sub(d.now)).Round(time.Second).String()
}

// Crashes returns the number of crashers of all targets.
func (d pageData) Crashes() (n int) {
	for _, t := range d.Status.Targets {
		n += len(t.Crashers)
	}
	return n
}

// Table returns the table of targets.
func (d pageData) Table() template.HTML {
	t := page.Table{Caption: "Targets", Columns: page.Head("target", "#executions", "#a second and core, now", "#overall", "#coverage, bits", "#inputs", "#new", "#age of last new input", "#crashers")}
	for _, s := range d.Status.Targets {
		crashers := page.Cell{Text: fmt.Sprint(len(s.Crashers))}
		if len(s.Crashers) > 0 {
			crashers.Class = "bad"
		}
		t.Rows = append(t.Rows, page.Row{Cells: []page.Cell{
			{Text: s.Name}, {Text: fmt.Sprint(s.Executions)}, {Text: fmt.Sprintf("%.0f", s.Rate)}, {Text: fmt.Sprintf("%.0f", s.mean())},
			{Text: fmt.Sprint(s.Coverage)}, {Text: fmt.Sprint(s.Corpus)}, {Text: fmt.Sprint(s.New)}, {Text: age(s.LastNew, d.now)}, crashers,
		}})
	}
	return t.HTML()
}

// Chart returns a chart of the target's coverage over time.
func (t TargetStatus) Chart() template.HTML {
	if len(t.Curve) == 0 {
		return ""
	}
	curve := page.Series{Name: "coverage", Line: true}
	for _, p := range thin(t.Curve) {
		curve.Points = append(curve.Points, page.Point{X: p.Seconds, Y: float64(p.Coverage)})
	}
	return page.Coverage(t.Name, fmt.Sprintf("%d crashers", len(t.Crashers)), curve)
}

// Handler serves the page of the campaign in dir, and its status as JSON at /status.json, to
// clients on this machine. until is the end of the campaign, or zero if it is unknown.
func Handler(dir string, now func() time.Time, until time.Time) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", serve(dir, until, "text/html; charset=utf-8", func(b *bytes.Buffer, s Status) error {
		var text bytes.Buffer
		if err := body.Execute(&text, pageData{s, now()}); err != nil {
			return err
		}
		p := page.Page{Title: "Fuzz campaign", Lead: fmt.Sprintf("On %s. The page loads itself again every %d seconds.", s.Package, reloadSeconds), Home: "/", Refresh: reloadSeconds,
			Body: template.HTML(text.String())} //nolint:gosec // made by html/template
		html, err := p.Render()
		b.Write(html)
		return err
	}))
	mux.HandleFunc("GET /status.json", serve(dir, until, "application/json", func(b *bytes.Buffer, s Status) error {
		return json.NewEncoder(b).Encode(s)
	}))
	return loopback.Guard(mux)
}

func serve(dir string, until time.Time, contentType string, write func(*bytes.Buffer, Status) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		status, err := ReadStatus(dir)
		status.Until = until
		if err == nil {
			err = write(&b, status)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Write(b.Bytes()) // the client may have disconnected
	}
}

// Listen listens on a loopback address for Handler.
func Listen(address string) (net.Listener, error) {
	if err := loopback.Check(address); err != nil {
		return nil, err
	}
	return net.Listen("tcp", address)
}

// The layout of a curve, in pixels.
const (
	curveWidth, curveHeight = 420, 220
	curveLeft, curveRight   = 60, 400
	curveTop, curveBottom   = 34, 172
)

// picture draws the target's coverage over time as an SVG file. The vertical axis begins at the
// first coverage value, so that late inputs are visible.
func (t TargetStatus) picture() []byte {
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
	for _, p := range thin(t.Curve) {
		fmt.Fprintf(&points, "%.1f,%.1f ", across.At(p.Seconds/perUnit), up.At(float64(p.Coverage)))
	}
	fmt.Fprintf(d, `<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`+"\n", page.Dark, strings.TrimSpace(points.String()))
	d.Dot(across.At(last.Seconds/perUnit), up.At(float64(last.Coverage)), 3, page.Dark) // a single point gives no line
	return d.Bytes()
}

// timeUnit returns a suitable unit for a duration, and the unit's length in seconds.
func timeUnit(seconds float64) (unit string, perUnit float64) {
	switch {
	case seconds < 180:
		return "seconds", 1
	case seconds < 3*3600:
		return "minutes", 60
	}
	return "hours", 3600
}

// thin returns about as many points as a curve has pixels, including the first and the last.
func thin(points []Point) []Point {
	step := len(points)/(curveRight-curveLeft) + 1
	var kept []Point
	for i := 0; i < len(points); i += step {
		kept = append(kept, points[i])
	}
	if last := points[len(points)-1]; kept[len(kept)-1] != last {
		kept = append(kept, last)
	}
	return kept
}
