package throughput

import (
	"fmt"
	"math"
	"slices"

	"sealab/analysis/stats"
	"sealab/internal/runfile"
)

// The names of the JSON formats.
const (
	ReportFormat  = "sealab-report/1"
	CompareFormat = "sealab-compare/1"
)

// A ReportDocument is the JSON form of a run. Times are in nanoseconds.
type ReportDocument struct {
	Format       string             `json:"format"`
	Run          string             `json:"run"` // its folder
	Stamp        map[string]string  `json:"stamp"`
	Rounds       int                `json:"rounds"`
	Noise        float64            `json:"noise"` // share; 0 if no subject was measured twice
	Measurements []MeasuredDocument `json:"measurements"`
	Thresholds   []CheckDocument    `json:"thresholds"`
}

// A MeasuredDocument is the JSON form of one measurement.
type MeasuredDocument struct {
	Subject   string     `json:"subject"`
	Op        runfile.Op `json:"op"`
	Size      int        `json:"payload_bytes"`
	Ns        float64    `json:"median_ns"`
	Low       float64    `json:"low_ns"`
	High      float64    `json:"high_ns"`
	TokenSize int        `json:"token_bytes"`
	Allocs    string     `json:"allocations"` // "-" if they were not counted
}

// A CheckDocument is the JSON form of one check of a threshold.
type CheckDocument struct {
	Ratio     string  `json:"ratio"`
	Size      int     `json:"payload_bytes"`
	Value     float64 `json:"value"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Threshold string  `json:"threshold"`
	Reached   bool    `json:"reached"`
	Sure      bool    `json:"sure"` // the interval excludes the threshold
}

// Document returns the JSON form of the run.
func (r *Run) Document() (*ReportDocument, error) {
	ratios, err := r.Ratios()
	if err != nil {
		return nil, err
	}
	all, err := r.Measurements()
	if err != nil {
		return nil, err
	}
	d := &ReportDocument{Format: ReportFormat, Run: r.Path, Stamp: r.Stamp, Rounds: r.Rounds(), Thresholds: []CheckDocument{}}
	d.Noise, _ = Noise(ratios)
	for _, m := range all {
		low, high := m.Low, m.High
		if low < 0 || high > wide*m.Ns {
			low, high = m.Ns, m.Ns // too few rounds for an interval
		}
		d.Measurements = append(d.Measurements, MeasuredDocument{m.Subject, m.Op, m.Size, m.Ns, low, high, m.TokenSize, m.Allocs})
	}
	for _, c := range r.Checks(ratios) {
		d.Thresholds = append(d.Thresholds, CheckDocument{c.Label(), c.Of.Size, c.Point, min(c.Lo, c.Point), min(c.Hi, wide*c.Point), c.Threshold.String(), c.Reached(), c.Sure()})
	}
	return d, nil
}

// A CompareDocument is the JSON form of a comparison.
type CompareDocument struct {
	Format    string           `json:"format"`
	Old       string           `json:"old"`
	New       string           `json:"new"`
	Noise     float64          `json:"noise"` // share
	Drift     float64          `json:"drift"` // of the baselines, share
	Unlike    []string         `json:"unlike"`
	Alone     []string         `json:"in_one_run_only"`
	Means     [][]string       `json:"geometric_means"` // the first row is the heading
	Changes   []ChangeDocument `json:"changes"`
	Regressed int              `json:"regressed"`
}

// A ChangeDocument is the JSON form of one change.
type ChangeDocument struct {
	Name    string   `json:"name"`
	Unit    string   `json:"unit"`
	Old     float64  `json:"old"`
	New     float64  `json:"new"`
	Share   *float64 `json:"share"` // null if the old value is 0
	P       float64  `json:"p"`
	Outcome string   `json:"outcome"`
}

// Document returns the JSON form of the comparison.
func (c *Comparison) Document(older, newer string) *CompareDocument {
	d := &CompareDocument{
		Format: CompareFormat, Old: older, New: newer, Noise: c.Noise, Drift: c.Drift, Regressed: len(c.Regressed()),
		Unlike: append([]string{}, c.Unlike...), Alone: append([]string{}, c.Alone...), Means: slices.Clone(c.Means()), Changes: []ChangeDocument{},
	}
	for _, ch := range c.Changes {
		x := ChangeDocument{ch.Name, ch.Unit, ch.Old.Center, ch.New.Center, nil, ch.P, ch.Word()}
		if ch.Old.Center != 0 {
			x.Share = new(ch.Share())
		}
		d.Changes = append(d.Changes, x)
	}
	return d
}

// Size formats a number of bytes as "64 B" or "8 KiB".
func Size(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// Duration formats nanoseconds with three significant digits and a unit.
func Duration(ns float64) string {
	switch {
	case ns >= 999.5e6:
		return digits(ns/1e9) + " s"
	case ns >= 999.5e3:
		return digits(ns/1e6) + " ms"
	case ns >= 999.5:
		return digits(ns/1e3) + " µs"
	}
	return digits(ns) + " ns"
}

// digits formats x with three significant digits, or as an integer if it is larger.
func digits(x float64) string {
	switch {
	case math.Abs(x) >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case math.Abs(x) >= 9.995:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// percent formats a share as "1.2 %".
func percent(share float64) string { return fmt.Sprintf("%.1f %%", share*100) }

// wide is the ratio of an interval's upper end to its estimate above which the interval is not printed.
const wide = 10

// times formats a ratio with its interval, as "1.20 [1.18, 1.22]".
func times(i stats.Interval) string {
	if i.Hi > wide*i.Point {
		return digits(i.Point) + " [no interval]"
	}
	return fmt.Sprintf("%s [%s, %s]", digits(i.Point), digits(i.Lo), digits(i.Hi))
}
