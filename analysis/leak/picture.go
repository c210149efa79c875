package leak

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"sealab/internal/samples"
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

// Picture draws the differences of one file: on the left how they are
// distributed, on the right their trimmed mean over the course of the run. The
// band is what the limit allows; the red line is the effect.
func Picture(f *samples.File, v *Verdict) []byte {
	s := newSeries(f)
	d := newDrawing(pictureWidth, pictureHeight,
		fmt.Sprintf("%s, %s, pass %d: %s against %s", f.Subject, f.Pair, f.Pass, f.B, f.A))
	effect := v.First.Trimmed.Value
	d.distribution(s.d, effect, v.Limit)
	d.course(s.d, effect, v.Limit)
	return d.bytes()
}

// distribution draws the histogram of the differences without the outermost
// hundredth on each side.
func (d *drawing) distribution(x []float64, effect, limit float64) {
	sorted := slices.Sorted(slices.Values(x))
	low, high := around(stat.Quantile(0.01, stat.Empirical, sorted, nil), stat.Quantile(0.99, stat.Empirical, sorted, nil), limit)
	across := scale{low, high, leftPanel, leftPanel + panelWidth}
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
	d.rect(across.at(-limit), panelTop, across.at(limit)-across.at(-limit), panelBottom-panelTop, band)
	up := scale{0, most, panelBottom, panelTop}
	for i, n := range counts {
		d.rect(leftPanel+float64(i)*panelWidth/bins, up.at(n), panelWidth/bins-0.5, panelBottom-up.at(n), dark)
	}
	d.line(across.at(effect), panelTop, across.at(effect), panelBottom, red)
	for _, v := range across.ticks() {
		d.text(across.at(v), panelBottom+14, "middle", fmt.Sprintf("%.3g", v))
	}
	d.text(leftPanel+panelWidth/2, panelBottom+32, "middle", "difference inside a block, ns per operation")
}

// course draws the trimmed mean of each part of the run.
func (d *drawing) course(x []float64, effect, limit float64) {
	size := max(1, len(x)/periods)
	var means []float64
	for part := range slices.Chunk(x, size) {
		if len(part) == size {
			means = append(means, trimmedMean(part))
		}
	}
	low, high := around(slices.Min(means), slices.Max(means), limit)
	up := scale{low, high, panelBottom, panelTop}
	across := scale{0, float64(len(means)), rightPanel, rightPanel + panelWidth}
	d.rect(rightPanel, up.at(limit), panelWidth, up.at(-limit)-up.at(limit), band)
	d.line(rightPanel, up.at(0), rightPanel+panelWidth, up.at(0), grey)
	d.line(rightPanel, up.at(effect), rightPanel+panelWidth, up.at(effect), red)
	for i, m := range means {
		fmt.Fprintf(d, `<circle cx="%.1f" cy="%.1f" r="2" fill="%s"/>`+"\n", across.at(float64(i)+0.5), up.at(m), dark)
	}
	for _, v := range up.ticks() {
		d.text(rightPanel-4, up.at(v)+4, "end", fmt.Sprintf("%.3g", v))
	}
	d.text(rightPanel+panelWidth/2, panelBottom+32, "middle", "trimmed mean in the course of the run, ns per operation")
}

// around returns ends that hold low, high, zero and the limit, with a margin.
func around(low, high, limit float64) (from, to float64) {
	low, high = min(low, -limit), max(high, limit)
	margin := 0.05*(high-low) + math.SmallestNonzeroFloat64
	return low - margin, high + margin
}
