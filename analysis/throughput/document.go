package throughput

import (
	"slices"

	"sealab/internal/runfile"
)

// The names of the JSON forms.
const (
	ReportFormat  = "sealab-report/1"
	CompareFormat = "sealab-compare/1"
)

// A ReportDocument is a run as JSON. Times are in nanoseconds.
type ReportDocument struct {
	Format       string             `json:"format"`
	Run          string             `json:"run"` // its folder
	Stamp        map[string]string  `json:"stamp"`
	Rounds       int                `json:"rounds"`
	Noise        float64            `json:"noise"` // share; 0 if no subject was measured twice
	Measurements []MeasuredDocument `json:"measurements"`
	Thresholds   []CheckDocument    `json:"thresholds"`
}

// A MeasuredDocument is one measurement.
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

// A CheckDocument is one threshold.
type CheckDocument struct {
	Ratio     string  `json:"ratio"`
	Size      int     `json:"payload_bytes"`
	Value     float64 `json:"value"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Threshold string  `json:"threshold"`
	Reached   bool    `json:"reached"`
	Sure      bool    `json:"sure"` // the interval leaves the threshold out
}

// Document returns the run as JSON.
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

// A CompareDocument is a comparison as JSON.
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

// A ChangeDocument is one change.
type ChangeDocument struct {
	Name    string   `json:"name"`
	Unit    string   `json:"unit"`
	Old     float64  `json:"old"`
	New     float64  `json:"new"`
	Share   *float64 `json:"share"` // null if the old value is 0
	P       float64  `json:"p"`
	Outcome string   `json:"outcome"`
}

// Document returns the comparison as JSON.
func (c *Comparison) Document(older, newer string) *CompareDocument {
	d := &CompareDocument{
		Format: CompareFormat, Old: older, New: newer, Noise: c.Noise, Drift: c.Drift, Regressed: len(c.Regressed()),
		Unlike: append([]string{}, c.Unlike...), Alone: append([]string{}, c.Alone...), Means: slices.Clone(c.Means()), Changes: []ChangeDocument{},
	}
	for _, ch := range c.Changes {
		x := ChangeDocument{ch.Name, ch.Unit, ch.Old.Center, ch.New.Center, nil, ch.P, ch.Word()}
		if ch.Old.Center != 0 {
			share := ch.Share()
			x.Share = &share
		}
		d.Changes = append(d.Changes, x)
	}
	return d
}
