package timing

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/stat"

	"sealab/internal/atomicfile"
	"sealab/internal/page"
	"sealab/internal/runfile"
)

// The layout of a picture, in pixels. A picture shows one subject: a row of two panels for each pair.
const (
	pictureWidth, pictureHead, pictureFoot = 760, 24, 22
	panelWidth, panelHeight                = 320, 90
	rowHead, rowHeight                     = 20, 132
	leftPanel, rightPanel                  = 40, 420
	histogramBins                          = 80
	periodCount                            = 50 // number of parts of a run in the course panel
)

// pictureFolder is the subfolder for pictures in a run's folder.
const pictureFolder = "pictures"

// Picture returns the path of the picture of the result's subject, relative to the run's folder.
func (v *Result) Picture() string { return filepath.Join(pictureFolder, v.SubjectName()+".svg") }

// WritePictures draws one picture for each subject into the run's folder. A picture shows the first pass
// of each pair. WritePictures calls progress after each pair with the number of pairs drawn, and returns
// the number of pictures.
func (j *Judgement) WritePictures(dir string, progress func(pairs int)) (int, error) {
	if err := os.MkdirAll(filepath.Join(dir, pictureFolder), 0o755); err != nil {
		return 0, err
	}
	bySubject := map[string][]*Result{}
	for _, v := range j.Verdicts {
		bySubject[v.Picture()] = append(bySubject[v.Picture()], v)
	}
	drawn := 0
	for path, pairs := range bySubject {
		d := newDrawing(pairs[0].Subject, len(pairs))
		for row, v := range pairs {
			f, err := runfile.ReadSamples(filepath.Join(dir, v.First.FileName()))
			if err != nil {
				return 0, err
			}
			d.row(row, f, v)
			drawn++
			progress(drawn)
		}
		if err := atomicfile.Write(filepath.Join(dir, path), d.Bytes()); err != nil {
			return 0, err
		}
	}
	return len(bySubject), nil
}

// A subjectPicture is the picture of one subject.
type subjectPicture struct{ *page.Drawing }

func newDrawing(subject string, pairs int) subjectPicture {
	d := subjectPicture{page.New(pictureWidth, pictureHead+pairs*rowHeight+pictureFoot, subject+", pass 1")}
	foot := float64(d.Height - pictureFoot/2)
	d.Text(leftPanel+panelWidth/2, foot, "middle", "difference inside a block, ns per operation")
	d.Text(rightPanel+panelWidth/2, foot, "middle", "trimmed mean in the course of the run, ns per operation")
	return d
}

// row draws the differences of one file: their distribution on the left, and their trimmed mean over the
// course of the run on the right. The band shows the limit, and the red line shows the effect.
func (d subjectPicture) row(row int, f *runfile.Samples, v *Result) {
	top := float64(pictureHead + row*rowHeight + rowHead)
	d.Text(leftPanel, top-6, "start", fmt.Sprintf("%s: %s against %s", v.Pair, v.B, v.A))
	s, effect := newSeries(f), v.First.Trimmed.Value
	d.distribution(top, s.d, effect, v.Limit)
	d.course(top, s.d, effect, v.Limit)
}

// distribution draws a histogram of the differences without the outermost 1 % on each side.
func (d subjectPicture) distribution(top float64, x []float64, effect, limit float64) {
	sorted := slices.Sorted(slices.Values(x))
	low, high := axisEnds(stat.Quantile(0.01, stat.Empirical, sorted, nil), stat.Quantile(0.99, stat.Empirical, sorted, nil), limit)
	across := page.Scale{From: low, To: high, First: leftPanel, Last: leftPanel + panelWidth}
	counts := make([]float64, histogramBins)
	most := 1.0
	for _, v := range sorted {
		if v < low || v >= high {
			continue
		}
		i := binOf(v, low, high)
		counts[i]++
		most = max(most, counts[i])
	}
	bottom := top + panelHeight
	d.Rect(across.At(-limit), top, across.At(limit)-across.At(-limit), panelHeight, page.Band)
	up := page.Scale{From: 0, To: most, First: bottom, Last: top}
	for i, n := range counts {
		counts[i] = up.At(n)
	}
	d.Steps(page.Dark, leftPanel, panelWidth/histogramBins, bottom, counts)
	d.Line(across.At(effect), top, across.At(effect), bottom, page.Red)
	for _, v := range across.Ticks() {
		d.Text(across.At(v), bottom+14, "middle", fmt.Sprintf("%.3g", v))
	}
}

// binOf returns the bin of a value in [low, high). Rounding may bring the quotient of a value just below
// high to 1.
func binOf(v, low, high float64) int {
	return min(int((v-low)/(high-low)*histogramBins), histogramBins-1)
}

// course draws the trimmed mean of each part of the run.
func (d subjectPicture) course(top float64, x []float64, effect, limit float64) {
	size := max(1, len(x)/periodCount)
	var means []float64
	for part := range slices.Chunk(x, size) {
		if len(part) == size {
			means = append(means, trimmedMean(part))
		}
	}
	low, high := axisEnds(slices.Min(means), slices.Max(means), limit)
	up := page.Scale{From: low, To: high, First: top + panelHeight, Last: top}
	across := page.Scale{From: 0, To: float64(len(means)), First: rightPanel, Last: rightPanel + panelWidth}
	d.Rect(rightPanel, up.At(limit), panelWidth, up.At(-limit)-up.At(limit), page.Band)
	d.Line(rightPanel, up.At(0), rightPanel+panelWidth, up.At(0), page.Grey)
	d.Line(rightPanel, up.At(effect), rightPanel+panelWidth, up.At(effect), page.Red)
	dots := make([][2]float64, len(means))
	for i, m := range means {
		dots[i] = [2]float64{across.At(float64(i) + 0.5), up.At(m)}
	}
	d.Dots(page.Dark, 1.5, dots)
	for _, v := range up.Ticks() {
		d.Text(rightPanel-4, up.At(v)+4, "end", fmt.Sprintf("%.3g", v))
	}
}

// axisEnds returns ends that include low, high, zero and the limits, with a margin.
func axisEnds(low, high, limit float64) (from, to float64) {
	low, high = min(low, -limit), max(high, limit)
	margin := 0.05*(high-low) + math.SmallestNonzeroFloat64
	return low - margin, high + margin
}
