// Package page renders the HTML pages of this module: one layout, one table, one chart. A page is one HTML
// file that includes its style and script. Its content security policy blocks every request.
//
// This package draws the charts itself rather than with gonum.org/v1/plot: their colors follow the
// reader's color scheme, their points are links, and a table of the numbers accompanies each.
//
// Limitations: sorting and filters need JavaScript. Without JavaScript all rows are shown.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"strings"
)

//go:embed style.css
var style string

//go:embed script.js
var script string

//go:embed page.html
var pageText string

var layout = template.Must(template.New("").Parse(pageText))

// A Link is an entry of the navigation.
type Link struct{ Name, File string }

// A Page is the content of one file.
type Page struct {
	Title, Lead string
	Nav         []Link
	Section     string // the name of the current entry of Nav
	Home        string // target of the name in the header; "" means index.html
	Refresh     int    // seconds until the page reloads itself; 0 means never
	Body        template.HTML
}

// Policy returns the content security policy. It allows only the style and script of this package and
// blocks every request.
func (Page) Policy() string {
	return "default-src 'none'; img-src data:; style-src " + digest(style) + "; script-src " + digest(script) + "; base-uri 'none'; form-action 'none'"
}

// Style returns the style sheet.
func (Page) Style() template.CSS { return template.CSS(style) } //nolint:gosec // embedded

// Script returns the script.
func (Page) Script() template.JS { return template.JS(script) } //nolint:gosec // embedded

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Render returns the page as an HTML file.
func (p Page) Render() ([]byte, error) {
	var b bytes.Buffer
	err := layout.ExecuteTemplate(&b, "page", p)
	return b.Bytes(), err
}

// A Facet is a filter by the values of data-Key of the rows.
type Facet struct {
	Label, Key string
	Values     []string
}

// Tools are the controls above the rows of a table.
type Tools struct {
	Facets               []Facet
	Orders               []string // keys of row data
	Search, Hint, Syntax string   // of the text field; Syntax is benchproc or ""
}

// HTML returns the controls.
func (t Tools) HTML() template.HTML { return fragment("tools", t) }

// A Column is a column heading.
type Column struct {
	Name   string
	Number bool // aligned right
}

// A Cell is one value of a table. Class is good, bad, warn, quiet or empty.
type Cell struct {
	Text, Href, Class, Sort string
	Mark                    string // a symbol that replaces the text; the text becomes its name
	HTML                    template.HTML
	Download                bool
}

// A Row is one line of a table.
type Row struct {
	ID    string
	Data  map[string]string // for filters and orders
	Cells []Cell
}

// A Table is rows under column headings. The first cell of a row is its heading.
type Table struct {
	Caption string // for screen readers
	Class   string
	Columns []Column
	Rows    []Row
	Tools   *Tools // nil means no tools
	Plain   bool   // not sortable
	Tall    bool   // scrolls inside the page
	Slim    bool   // as narrow as its content
	Items   bool   // rows belong to the controls of a surrounding box
}

// Head returns columns with the given names. A name that begins with # marks a column of numbers.
func Head(names ...string) []Column {
	var all []Column
	for _, name := range names {
		if name[0] == '#' {
			all = append(all, Column{name[1:], true})
		} else {
			all = append(all, Column{Name: name})
		}
	}
	return all
}

// Add adds a row of plain cells.
func (t *Table) Add(texts ...string) {
	var cells []Cell
	for _, text := range texts {
		cells = append(cells, Cell{Text: text})
	}
	t.Rows = append(t.Rows, Row{Cells: cells})
}

// HTML returns the table.
func (t Table) HTML() template.HTML { return fragment("table", t) }

// fragment executes a template of this package. It cannot fail, because data is a type of this package.
func fragment(name string, data any) template.HTML {
	var b bytes.Buffer
	if err := layout.ExecuteTemplate(&b, name, data); err != nil {
		panic("page: " + err.Error())
	}
	return template.HTML(b.String()) //nolint:gosec // made by html/template
}

// A Drawing is an SVG picture under construction. Its methods take pixels; y grows downwards.
type Drawing struct {
	strings.Builder
	Width, Height int
}

// New begins a picture on white with a title at the top.
func New(width, height int, title string) *Drawing {
	d := &Drawing{Width: width, Height: height}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11" role="img">`+"\n", width, height)
	fmt.Fprintf(d, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	d.Text(float64(width)/2, 16, "middle", title)
	return d
}

// Bytes closes the picture and returns it.
func (d *Drawing) Bytes() []byte { return []byte(d.String() + "</svg>\n") }

// Text writes text, which it escapes. anchor is start, middle or end.
func (d *Drawing) Text(x, y float64, anchor, text string) {
	escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, escaped)
}

// Rect draws a filled box.
func (d *Drawing) Rect(x, y, width, height float64, fill string) {
	fmt.Fprintf(d, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, max(width, 0), max(height, 0), fill)
}

// Line draws a line.
func (d *Drawing) Line(x1, y1, x2, y2 float64, stroke string) {
	fmt.Fprintf(d, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, stroke)
}

// Dot draws a filled circle.
func (d *Drawing) Dot(x, y, radius float64, fill string) {
	fmt.Fprintf(d, `<circle cx="%.1f" cy="%.1f" r="%g" fill="%s"/>`+"\n", x, y, radius, fill)
}

// Steps draws a histogram as one path in whole pixels. The columns have equal widths, start at x, and
// reach from base to their tops.
func (d *Drawing) Steps(fill string, x, width, base float64, tops []float64) {
	fmt.Fprintf(d, `<path fill="%s" d="M%.0f %.0f`, fill, x, base)
	for column := range tops {
		if top := math.Round(tops[column]); column == 0 || top != math.Round(tops[column-1]) {
			fmt.Fprintf(d, "H%.0fV%.0f", x+float64(column)*width, top)
		}
	}
	fmt.Fprintf(d, `H%.0fV%.0fz"/>`+"\n", x+float64(len(tops))*width, base)
}

// Dots draws filled circles of one radius as one path in whole pixels. Each dot is a pair of x and y.
func (d *Drawing) Dots(fill string, radius float64, dots [][2]float64) {
	fmt.Fprintf(d, `<path stroke="%s" stroke-width="%g" stroke-linecap="round" d="M0 0`, fill, 2*radius)
	x, y := 0.0, 0.0
	for _, p := range dots {
		toX, toY := math.Round(p[0]), math.Round(p[1])
		fmt.Fprintf(d, "m%.0f %.0fh0", toX-x, toY-y)
		x, y = toX, toY
	}
	d.WriteString(`"/>` + "\n")
}

// A Scale maps values between From and To to pixels between First and Last.
type Scale struct{ From, To, First, Last float64 }

// At returns the pixel of a value. It clamps a value outside the scale.
func (s Scale) At(v float64) float64 {
	v = max(s.From, min(s.To, v))
	return s.First + (v-s.From)/(s.To-s.From)*(s.Last-s.First)
}

// Ticks returns about five round values within the scale.
func (s Scale) Ticks() []float64 {
	span := s.To - s.From
	step := math.Pow(10, math.Floor(math.Log10(span/2)))
	for span/step > 6 {
		step *= 2
	}
	var values []float64
	for v := math.Ceil(s.From/step) * step; v <= s.To; v += step {
		values = append(values, v)
	}
	return values
}

// The colors of pictures.
const (
	Grey, Dark, Band, Red = "#cccccc", "#33557a", "#eef3e6", "#b03030"
)
