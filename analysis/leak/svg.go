package leak

import (
	"fmt"
	"math"
	"strings"
)

// A drawing is an SVG picture in the making. Its methods take pixels; y grows
// downwards.
type drawing struct {
	strings.Builder
	width, height int
}

func newDrawing(width, height int, title string) *drawing {
	d := &drawing{width: width, height: height}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", width, height)
	fmt.Fprintf(d, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	d.text(float64(width)/2, 16, "middle", title)
	return d
}

// bytes ends the picture and returns it.
func (d *drawing) bytes() []byte { return []byte(d.String() + "</svg>\n") }

func (d *drawing) text(x, y float64, anchor, text string) {
	escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, escaped)
}

func (d *drawing) rect(x, y, width, height float64, fill string) {
	fmt.Fprintf(d, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, max(width, 0), max(height, 0), fill)
}

func (d *drawing) line(x1, y1, x2, y2 float64, stroke string) {
	fmt.Fprintf(d, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, stroke)
}

// A scale maps values to pixels.
type scale struct{ from, to, first, last float64 }

func (s scale) at(v float64) float64 {
	v = max(s.from, min(s.to, v))
	return s.first + (v-s.from)/(s.to-s.from)*(s.last-s.first)
}

// ticks returns about five round values on the scale.
func (s scale) ticks() []float64 {
	span := s.to - s.from
	step := math.Pow(10, math.Floor(math.Log10(span/2)))
	for span/step > 6 {
		step *= 2
	}
	var values []float64
	for v := math.Ceil(s.from/step) * step; v <= s.to; v += step {
		values = append(values, v)
	}
	return values
}

// The colours of pictures.
const (
	grey, dark, band, red = "#cccccc", "#33557a", "#eef3e6", "#b03030"
)
