// Package svg draws the small pictures of reports: text, boxes, lines, and scales
// with round numbers. It does not know their subject.
package svg

import (
	"fmt"
	"math"
	"strings"
)

// A Drawing is an SVG picture in the making. Its methods take pixels; y grows
// downwards.
type Drawing struct {
	strings.Builder
	Width, Height int
}

// New begins a picture on white, with a title at its top.
func New(width, height int, title string) *Drawing {
	d := &Drawing{Width: width, Height: height}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11" role="img">`+"\n", width, height)
	fmt.Fprintf(d, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	d.Text(float64(width)/2, 16, "middle", title)
	return d
}

// Bytes ends the picture and returns it.
func (d *Drawing) Bytes() []byte { return []byte(d.String() + "</svg>\n") }

// Text writes text, with any characters. anchor is start, middle or end.
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

// Bars draws filled boxes as one path. Each box is x, y, width and height.
func (d *Drawing) Bars(fill string, boxes [][4]float64) {
	fmt.Fprintf(d, `<path fill="%s" d="`, fill)
	for _, b := range boxes {
		fmt.Fprintf(d, "M%.4g %.4gh%.3gv%.4gh%.3gz", b[0], b[1], b[2], b[3], -b[2])
	}
	d.WriteString(`"/>` + "\n")
}

// Dots draws filled circles of one radius as one path. Each dot is x and y.
func (d *Drawing) Dots(fill string, radius float64, dots [][2]float64) {
	fmt.Fprintf(d, `<path stroke="%s" stroke-width="%g" stroke-linecap="round" d="`, fill, 2*radius)
	for _, p := range dots {
		fmt.Fprintf(d, "M%.4g %.4gh0", p[0], p[1])
	}
	d.WriteString(`"/>` + "\n")
}

// A Scale maps the values from From to To to the pixels from First to Last.
type Scale struct{ From, To, First, Last float64 }

// At returns the pixel of a value; one outside the scale has that of its end.
func (s Scale) At(v float64) float64 {
	v = max(s.From, min(s.To, v))
	return s.First + (v-s.From)/(s.To-s.From)*(s.Last-s.First)
}

// Ticks returns about five round values on the scale.
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

// The colours of pictures.
const (
	Grey, Dark, Band, Red = "#cccccc", "#33557a", "#eef3e6", "#b03030"
)
