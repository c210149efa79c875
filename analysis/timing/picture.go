package timing

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"sealab/internal/page"
	"sealab/internal/runfile"
)

// The layout of a picture, in pixels.
const (
	pictureWidth, pictureHeight = 760, 300
	panelWidth                  = 320
	panelTop, panelBottom       = 40, 250
	leftPanel, rightPanel       = 40, 420
	bins                        = 80
	periods                     = 50 // parts of the run in the picture over time
)

// A drawing is the picture of one file.
type drawing struct{ *page.Drawing }

// draw draws the differences of one file: on the left their distribution, on the
// right their trimmed mean over the course of the run. The band is the limit, and
// the red line is the effect.
func draw(f *runfile.Samples, v *Result) []byte {
	s := newSeries(f)
	d := drawing{page.New(pictureWidth, pictureHeight,
		fmt.Sprintf("%s, %s, pass %d: %s against %s", f.Subject, f.Pair, f.Pass, f.B, f.A))}
	effect := v.First.Trimmed.Value
	d.distribution(s.d, effect, v.Limit)
	d.course(s.d, effect, v.Limit)
	return d.Bytes()
}

// distribution draws the histogram of the differences without the outermost
// hundredth on each side.
func (d drawing) distribution(x []float64, effect, limit float64) {
	sorted := slices.Sorted(slices.Values(x))
	low, high := around(stat.Quantile(0.01, stat.Empirical, sorted, nil), stat.Quantile(0.99, stat.Empirical, sorted, nil), limit)
	across := page.Scale{From: low, To: high, First: leftPanel, Last: leftPanel + panelWidth}
	counts := make([]float64, bins)
	most := 1.0
	for _, v := range sorted {
		if v < low || v >= high {
			continue
		}
		i := int((v - low) / (high - low) * bins)
		counts[i]++
		most = max(most, counts[i])
	}
	d.Rect(across.At(-limit), panelTop, across.At(limit)-across.At(-limit), panelBottom-panelTop, page.Band)
	up := page.Scale{From: 0, To: most, First: panelBottom, Last: panelTop}
	var bars [][4]float64
	for i, n := range counts {
		if n > 0 {
			bars = append(bars, [4]float64{leftPanel + float64(i)*panelWidth/bins, up.At(n), panelWidth/bins - 0.5, panelBottom - up.At(n)})
		}
	}
	d.Bars(page.Dark, bars)
	d.Line(across.At(effect), panelTop, across.At(effect), panelBottom, page.Red)
	for _, v := range across.Ticks() {
		d.Text(across.At(v), panelBottom+14, "middle", fmt.Sprintf("%.3g", v))
	}
	d.Text(leftPanel+panelWidth/2, panelBottom+32, "middle", "difference inside a block, ns per operation")
}

// course draws the trimmed mean of each part of the run.
func (d drawing) course(x []float64, effect, limit float64) {
	size := max(1, len(x)/periods)
	var means []float64
	for part := range slices.Chunk(x, size) {
		if len(part) == size {
			means = append(means, trimmedMean(part))
		}
	}
	low, high := around(slices.Min(means), slices.Max(means), limit)
	up := page.Scale{From: low, To: high, First: panelBottom, Last: panelTop}
	across := page.Scale{From: 0, To: float64(len(means)), First: rightPanel, Last: rightPanel + panelWidth}
	d.Rect(rightPanel, up.At(limit), panelWidth, up.At(-limit)-up.At(limit), page.Band)
	d.Line(rightPanel, up.At(0), rightPanel+panelWidth, up.At(0), page.Grey)
	d.Line(rightPanel, up.At(effect), rightPanel+panelWidth, up.At(effect), page.Red)
	dots := make([][2]float64, len(means))
	for i, m := range means {
		dots[i] = [2]float64{across.At(float64(i) + 0.5), up.At(m)}
	}
	d.Dots(page.Dark, 2, dots)
	for _, v := range up.Ticks() {
		d.Text(rightPanel-4, up.At(v)+4, "end", fmt.Sprintf("%.3g", v))
	}
	d.Text(rightPanel+panelWidth/2, panelBottom+32, "middle", "trimmed mean in the course of the run, ns per operation")
}

// around returns ends that hold low, high, zero and the limit, with a margin.
func around(low, high, limit float64) (from, to float64) {
	low, high = min(low, -limit), max(high, limit)
	margin := 0.05*(high-low) + math.SmallestNonzeroFloat64
	return low - margin, high + margin
}
