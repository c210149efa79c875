// Package report presents the progress of a campaign as text, as a web page, and as a folder to
// keep in the repository. It reads only the folder of the campaign.
package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"sealab/fuzz/campaign"
)

// A Status is the progress of a campaign.
type Status struct {
	Package string         `json:"package"`
	Started time.Time      `json:"started"` // first start; zero if it never ran
	Last    time.Time      `json:"last"`    // time of the last record
	Seconds float64        `json:"seconds"` // of one core
	Targets []TargetStatus `json:"targets"`
	Notices []string       `json:"notices"`        // oldest first
	Until   time.Time      `json:"until,omitzero"` // end of the campaign; zero if unknown
}

// A TargetStatus is the progress of one target.
type TargetStatus struct {
	campaign.Target
	Executions int64                   `json:"executions"`
	Seconds    float64                 `json:"seconds"`
	Rate       float64                 `json:"rate"`     // executions per second in the last record
	Coverage   int                     `json:"coverage"` // counter bits of the engine; 0 if unknown
	Corpus     int                     `json:"corpus"`   // files on disk
	New        int                     `json:"new"`      // inputs with new coverage
	LastNew    time.Time               `json:"last_new"` // zero if never
	Curve      []Point                 `json:"curve"`
	Crashers   []campaign.FoundCrasher `json:"crashers"`
}

// A Point is the coverage after a certain time.
type Point struct {
	Seconds    float64 `json:"seconds"` // of one core
	Executions int64   `json:"executions"`
	Coverage   int     `json:"coverage"`
}

// ReadStatus reads the status of the campaign in dir, which may be running.
func ReadStatus(dir string) (Status, error) {
	var s Status
	m, err := campaign.ReadManifest(dir)
	if err != nil {
		return s, err
	}
	records, notices, err := campaign.ReadJournal(dir)
	if err != nil {
		return s, err
	}
	s.Package, s.Notices = m.Package, notices
	for _, t := range m.Targets {
		ts := TargetStatus{Target: t}
		if ts.Corpus, err = campaign.CorpusSize(dir, t); err != nil {
			return s, err
		}
		if ts.Crashers, err = campaign.ReadCrashers(dir, t); err != nil {
			return s, err
		}
		s.Targets = append(s.Targets, ts)
	}
	for _, r := range records {
		s.add(r)
	}
	return s, nil
}

func (s *Status) add(r campaign.Record) {
	if s.Started.IsZero() {
		s.Started = r.Time
	}
	s.Last = r.Time
	switch r.Event {
	case campaign.EventNotice:
		s.Notices = append(s.Notices, r.Text)
	case campaign.EventProgress:
		for i := range s.Targets {
			if s.Targets[i].Name == r.Target {
				s.Seconds += r.Seconds
				s.Targets[i].add(r)
			}
		}
	}
}

func (t *TargetStatus) add(r campaign.Record) {
	t.Executions += r.Executions
	t.Seconds += r.Seconds
	t.New += r.New
	if r.Seconds > 0 {
		t.Rate = float64(r.Executions) / r.Seconds
	}
	if r.New > 0 {
		t.LastNew = r.Time
	}
	if r.Coverage > 0 { // zero in a slice that ended early
		t.Coverage = max(t.Coverage, r.Coverage)
		t.Curve = append(t.Curve, Point{t.Seconds, t.Executions, t.Coverage})
	}
}

// mean returns the executions per second over the whole time.
func (t TargetStatus) mean() float64 {
	if t.Seconds == 0 {
		return 0
	}
	return float64(t.Executions) / t.Seconds
}

// A Bucket holds the crashers with one cause in all targets.
type Bucket struct {
	Name     string
	Text     string // of the first crasher
	Designs  []string
	Crashers []campaign.FoundCrasher
}

// Buckets returns the crashers of all targets by cause, in the order in which
// they were found.
func (s Status) Buckets() []*Bucket {
	var all []*Bucket
	byName := map[string]*Bucket{}
	for _, t := range s.Targets {
		for _, k := range t.Crashers {
			b := byName[k.Bucket]
			if b == nil {
				b = &Bucket{Name: k.Bucket, Text: campaign.OneLine(k.Text)}
				byName[k.Bucket] = b
				all = append(all, b)
			}
			b.Crashers = append(b.Crashers, k)
			b.Designs = append(b.Designs, k.Designs...)
		}
	}
	for _, b := range all {
		slices.Sort(b.Designs)
		b.Designs = slices.Compact(b.Designs)
	}
	slices.SortStableFunc(all, func(a, b *Bucket) int {
		return cmp.Or(a.Crashers[0].Found.Compare(b.Crashers[0].Found), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Executions returns the number of executions of all targets.
func (s Status) Executions() (n int64) {
	for _, t := range s.Targets {
		n += t.Executions
	}
	return n
}

// Summary describes the progress in one line.
func (s Status) Summary() string {
	var idle []string
	incomplete := 0
	for _, t := range s.Targets {
		if t.Executions == 0 {
			idle = append(idle, t.Name)
		}
		for _, k := range t.Crashers {
			if !k.Complete {
				incomplete++
			}
		}
	}
	line := fmt.Sprintf("%d targets, %d executions in %s of one core, %d crash buckets",
		len(s.Targets), s.Executions(), duration(s.Seconds), len(s.Buckets()))
	if incomplete > 0 {
		line += fmt.Sprintf(", %d crashers incomplete", incomplete)
	}
	if len(idle) > 0 {
		line += "; not run: " + strings.Join(idle, ", ")
	}
	return line
}

const (
	maxFrames  = 8
	maxNotices = 10
)

// WriteTable writes the status as text for a terminal: a line per target, then each crash
// bucket with its stack. Column names are single words separated by one space, so that a
// campaign of several days fits in 80 columns.
func (s Status) WriteTable(w io.Writer, now time.Time) error {
	var b bytes.Buffer
	table := tabwriter.NewWriter(&b, 0, 0, 1, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "target\texecutions\texec/s\ttime\tcoverage\tcorpus\tnew\tnewest\tcrashers\t")
	for _, t := range s.Targets {
		fmt.Fprintf(table, "%s\t%d\t%.0f\t%s\t%d\t%d\t%d\t%s\t%d\t\n", t.Name, t.Executions, t.mean(), duration(t.Seconds),
			t.Coverage, t.Corpus, t.New, age(t.LastNew, now), len(t.Crashers))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, bucket := range s.Buckets() {
		bucket.write(&b)
	}
	for _, n := range s.Notices[max(0, len(s.Notices)-maxNotices):] {
		fmt.Fprintf(&b, "\nnotice: %s\n", strings.ReplaceAll(n, "\n", " "))
	}
	fmt.Fprintf(&b, "\n%s\n", s.Summary())
	_, err := io.WriteString(w, campaign.Printable(b.String()))
	return err
}

func (b *Bucket) write(w io.Writer) {
	fmt.Fprintf(w, "\n%s\n  bucket %s", b.Text, b.Name)
	if len(b.Designs) > 0 {
		fmt.Fprintf(w, ", in %s", strings.Join(b.Designs, ", "))
	}
	fmt.Fprintln(w)
	for _, k := range b.Crashers {
		if k.Complete {
			fmt.Fprintf(w, "  %s: %d bytes, minimized to %d%s; %s\n", k.Target, k.Size, k.Minimized, k.Condition(), k.Dir)
		} else {
			fmt.Fprintf(w, "  %s: %d bytes, incomplete; %s\n", k.Target, k.Size, k.Dir)
		}
	}
	stack := b.Crashers[0].Stack
	for _, frame := range stack[:min(len(stack), maxFrames)] {
		fmt.Fprintf(w, "    %s\n", frame)
	}
}

func duration(seconds float64) string { return (time.Duration(seconds) * time.Second).String() }

// age returns the time from then to now, or "never" if then is zero.
func age(then, now time.Time) string {
	if then.IsZero() {
		return "never"
	}
	return now.Sub(then).Truncate(time.Second).String()
}
