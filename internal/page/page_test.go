package page_test

import (
	"encoding/xml"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/page"
)

func TestRender(t *testing.T) {
	p := page.Page{Title: "<a>", Section: "One", Nav: []page.Link{{Name: "One", File: "1.html"}}}
	text, err := p.Render()
	require.NoError(t, err)
	require.Contains(t, string(text), "<title>&lt;a&gt; · sealab</title>")
	require.Contains(t, string(text), `<a href="1.html" aria-current="page">One</a>`)
	require.Contains(t, string(text), string(p.Style()), "the policy has the digest of these bytes")
	require.Contains(t, string(text), string(p.Script()))
	require.NotContains(t, string(text), "http-equiv=\"refresh\"")
}

func TestTable(t *testing.T) {
	table := page.Table{Caption: "c", Columns: page.Head("a", "#b"), Tools: &page.Tools{Facets: []page.Facet{{Label: "kind", Key: "kind", Values: []string{"x y"}}}}}
	require.Contains(t, string(table.HTML()), "None.")
	table.Rows = append(table.Rows, page.Row{ID: "r", Data: map[string]string{"kind": `x" y`}, Cells: []page.Cell{{Text: "<b>", Href: "javascript:alert(1)"}, {Text: "2", Sort: "2"}}})
	text := string(table.HTML())
	require.Contains(t, text, `<tr id="r" data-item data-kind="x&#34; y">`)
	require.Contains(t, text, `<th scope="row"><a href="#ZgotmplZ">&lt;b&gt;</a></th><td class="number" data-sort="2">2</td>`)
	require.Contains(t, text, `<select data-facet="kind"><option value="">all</option><option>x y</option></select>`)
}

// TestChart parses charts as XML. It checks that every number is finite, every text is escaped, and every
// linked point is inside the chart.
func TestChart(t *testing.T) {
	series := page.Series{Name: "<s>", Line: true}
	for i := range 12 {
		y := math.Pow(3, float64(i))
		series.Points = append(series.Points, page.Point{X: float64(i), Y: y, Low: y / 2, High: y * 2})
	}
	dots := page.Series{Name: "dots", Points: []page.Point{{X: 3, Y: 3, Label: "same", Title: "t", Href: "x.html", Data: map[string]string{"kind": "k"}}, {X: 3, Y: 3, Label: "same", Title: "t", Href: "y.html"}}}
	for _, c := range []page.Chart{
		{Title: "&", X: page.Axis{Label: "x"}, Y: page.Axis{Label: "y", Log: true}, Series: []page.Series{series, dots}},
		{Title: "one", Wide: true, X: page.Axis{Zero: true}, Series: []page.Series{{Points: []page.Point{{X: 5, Y: 5}}}}},
	} {
		text := string(c.HTML())
		require.NotContains(t, text, "NaN")
		require.NotContains(t, text, "Inf")
		start, end := strings.Index(text, `<svg class="chart`), strings.LastIndex(text, "</svg>")
		var any struct{}
		require.NoError(t, xml.Unmarshal([]byte("<both>"+text[start:end+6]+"</both>"), &any), text)
		require.Equal(t, strings.Count(text, "chart broad"), strings.Count(text, "chart narrow"))
		require.Contains(t, text, fmt.Sprintf("<figcaption>%s</figcaption>", map[string]string{"&": "&amp;", "one": "one"}[c.Title]))
	}
	require.Empty(t, page.Chart{Title: "empty"}.HTML())
}

func TestChartLabelsKeepApart(t *testing.T) {
	near := page.Series{Name: "s"}
	for i := range 30 {
		near.Points = append(near.Points, page.Point{X: 1 + float64(i)/1000, Y: 1, Label: "a long name", Title: "t", Href: "x.html"})
	}
	text := string(page.Chart{Title: "t", Series: []page.Series{near, {Points: []page.Point{{X: 9, Y: 9}}}}}.HTML())
	require.Contains(t, text, "late halo", "a label without room is shown on demand")
	require.Less(t, strings.Count(text, `class="halo"`), 12)
}

// TestChartLabelsAvoidEveryPoint draws a later series with a point to the right of the first one, where
// the label would go.
func TestChartLabelsAvoidEveryPoint(t *testing.T) {
	label := func(others ...page.Point) string {
		one := page.Series{Points: []page.Point{{X: 5, Y: 5, Label: "name", Title: "t", Href: "x.html"}, {X: 0, Y: 0}, {X: 10, Y: 10}}}
		text := string(page.Chart{Series: []page.Series{{Points: others}, one}}.HTML())
		_, text, _ = strings.Cut(text, `class="halo"`)
		text, _, _ = strings.Cut(text, "</text>")
		return text
	}
	require.Contains(t, label(), `text-anchor="start"`)
	require.Contains(t, label(page.Point{X: 5.3, Y: 5}), `text-anchor="end"`)
}

func TestCoverageCountsMinutes(t *testing.T) {
	curve := page.Series{Points: []page.Point{{X: 1, Y: 1}, {X: 600, Y: 9}}}
	require.Contains(t, string(page.Coverage("t", "", curve)), "minutes of one core")
	require.Equal(t, 600.0, curve.Points[1].X)
	require.Contains(t, string(page.Interval(0, -1, 1, 1)), `d="M6.0 10H138.0"`)
}

func TestDrawingIsXML(t *testing.T) {
	d := page.New(100, 50, `<a> & "b"`)
	d.Rect(1, 2, -3, 4, page.Dark)
	d.Line(1, 2, 3, 4, page.Grey)
	d.Dot(1, 2, 2.5, page.Red)
	d.Steps(page.Dark, 1, 4, 20, []float64{8, 8.2, 20, 3.6})
	d.Dots(page.Red, 2, [][2]float64{{1, 2}, {4.4, 1}})
	var any struct{}
	require.NoError(t, xml.Unmarshal(d.Bytes(), &any))
	require.Contains(t, string(d.Bytes()), `width="0.0"`)
	require.Contains(t, string(d.Bytes()), `d="M1 20H1V8H9V20H13V4H17V20z"`)
	require.Contains(t, string(d.Bytes()), `d="M0 0m1 2h0m3 -1h0"`)
}

func TestScale(t *testing.T) {
	s := page.Scale{From: 0, To: 10, First: 100, Last: 200}
	require.Equal(t, 150.0, s.At(5))
	require.Equal(t, 100.0, s.At(-1))
	require.Equal(t, 200.0, s.At(11))
	for _, s := range []page.Scale{{From: 0, To: 10}, {From: 1664, To: 4372}, {From: -0.03, To: 0.02}} {
		ticks := s.Ticks()
		require.GreaterOrEqual(t, len(ticks), 2, "%v", s)
		require.LessOrEqual(t, len(ticks), 7, "%v", s)
		require.GreaterOrEqual(t, ticks[0], s.From)
		require.LessOrEqual(t, ticks[len(ticks)-1], s.To)
	}
}
