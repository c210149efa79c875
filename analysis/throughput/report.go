package throughput

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"

	"sealab/internal/runfile"
	"sealab/internal/table"
)

// Report writes every table of a run for a terminal of the given width: one for each operation and size,
// and the thresholds.
func (r *Run) Report(w io.Writer, width int) error {
	ratios, err := r.Ratios()
	if err != nil {
		return err
	}
	var b strings.Builder
	r.writeHead(&b, ratios)
	for _, op := range r.ops() {
		if op.Refuses() {
			r.writeRefusals(&b, op, width)
			continue
		}
		for _, n := range r.sizes() {
			r.writeOp(&b, op, n, ratios, width)
		}
	}
	r.writeChecks(&b, r.Checks(ratios), width)
	_, err = io.WriteString(w, b.String())
	return err
}

// The maximum numbers of designs and of missed thresholds in a summary.
const (
	maxDesigns = 24
	maxMissed  = 6
)

// Summary writes one screen: the stamp, the designs compared with their baselines at one size, and the
// missed thresholds.
func (r *Run) Summary(w io.Writer, width int) error {
	ratios, err := r.Ratios()
	if err != nil {
		return err
	}
	var b strings.Builder
	r.writeHead(&b, ratios)
	r.writeDesigns(&b, ratios, width)
	checks := r.Checks(ratios)
	missed := slices.DeleteFunc(slices.Clone(checks), Check.Reached)
	b.WriteString("\n" + reachedLine(checks))
	for i, c := range missed {
		if i == maxMissed {
			fmt.Fprintf(&b, "  and %d more\n", len(missed)-i)
			break
		}
		r.writeMissed(&b, c)
	}
	r.writeAllocators(&b)
	_, err = io.WriteString(w, b.String())
	return err
}

// writeAllocators writes a line for each of the first designs that allocate.
func (r *Run) writeAllocators(b *strings.Builder) {
	type span struct{ least, most uint64 }
	spans, names := map[string]*span{}, []string{}
	for _, p := range r.Allocating() {
		n := r.cells[p].Allocs
		if spans[p.Subject] == nil {
			spans[p.Subject] = &span{n, n}
			names = append(names, p.Subject)
		}
		s := spans[p.Subject]
		s.least, s.most = min(s.least, n), max(s.most, n)
	}
	if len(names) == 0 {
		b.WriteString("no design allocates without a stated reason\n")
	}
	for i, name := range names {
		if i == maxMissed {
			fmt.Fprintf(b, "  and %d more designs that allocate\n", len(names)-i)
			break
		}
		times := fmt.Sprint(spans[name].least)
		if spans[name].most > spans[name].least {
			times += fmt.Sprintf(" to %d", spans[name].most)
		}
		fmt.Fprintf(b, "  missed: %s allocates %s times\n", name, times)
	}
}

// writeDesigns writes a line for each codec of the catalog, at the run's second size.
func (r *Run) writeDesigns(b *strings.Builder, ratios []Ratio, width int) {
	sizes := r.sizes()
	n := sizes[min(1, len(sizes)-1)]
	more := 0
	t := table.New("lrrrrrr")
	t.Row(Size(n), "seal", "× baseline", "unseal", "× baseline", "token B", "allocs")
	for _, s := range r.Subjects {
		if s.Role != runfile.RoleDesign && s.Role != runfile.RoleScheme {
			continue
		}
		row := []string{s.Name}
		var last *Series
		for _, op := range []runfile.Op{runfile.Seal, runfile.Unseal} {
			c := r.cells[Place{s.Name, op, n}]
			if c == nil {
				row = append(row, "", "")
				continue
			}
			median, _ := c.median()
			row = append(row, Duration(median), overBaseline(ratios, Place{s.Name, op, n}))
			last = c
		}
		switch {
		case last == nil:
		case t.Len() > maxDesigns:
			more++
		default:
			t.Row(append(row, fmt.Sprint(last.TokenSize), last.allocs())...)
		}
	}
	if t.Len() > 1 {
		b.WriteString("\n" + t.Text(width))
	}
	if more > 0 {
		fmt.Fprintf(b, "  and %d more\n", more)
	}
}

// overBaseline returns the ratio of a place to its baseline, or "".
func overBaseline(ratios []Ratio, p Place) string {
	i := slices.IndexFunc(ratios, func(r Ratio) bool { return r.Of == p && r.Relation == runfile.OverBaseline })
	if i < 0 {
		return ""
	}
	return digits(ratios[i].Point)
}

// restless is the noise floor above which a report warns.
const restless = 0.05

func (r *Run) writeHead(b *strings.Builder, ratios []Ratio) {
	changed := ""
	if r.Stamp["dirty"] == "true" {
		changed = " with changes"
	}
	fmt.Fprintf(b, "%s\n", r.Path)
	fmt.Fprintf(b, "commit %s%s, %s, %s, %s processors, %s\n", r.Stamp["commit"], changed,
		r.Stamp["toolchain"], r.Stamp["cpu"], r.Stamp["cpus"], r.Stamp["date"])
	fmt.Fprintf(b, "%s, %s, %s a cell (a quarter of it for refusals)\n", table.Count(len(r.places), "cell"), table.Count(r.Rounds(), "round"), r.Stamp["cell"])
	fmt.Fprintf(b, "cells that are compared take turns; medians with 95 %% intervals; ratios are paired by rounds; the intervals of all %d hold together at %.0f %%\n",
		len(ratios), confidence*100)
	share, cells := Noise(ratios)
	if cells == 0 {
		b.WriteString("noise floor not tested: no subject was measured twice\n")
		return
	}
	fmt.Fprintf(b, "noise floor %s: the largest difference between a subject and itself, of %s\n", percent(share), table.Count(cells, "cell"))
	if share > restless {
		b.WriteString("warning: that is not a quiet machine: all ratios are rough\n")
	}
}

// ops returns the operations of the run, in the order of reports.
func (r *Run) ops() []runfile.Op {
	return slices.DeleteFunc(runfile.Ops(), func(op runfile.Op) bool {
		return !slices.ContainsFunc(r.places, func(p Place) bool { return p.Op == op })
	})
}

// sizes returns the payload sizes of the run, ascending.
func (r *Run) sizes() []int {
	var sizes []int
	for _, p := range r.places {
		sizes = append(sizes, p.Size)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

func (r *Run) writeOp(b *strings.Builder, op runfile.Op, n int, ratios []Ratio, width int) {
	fmt.Fprintf(b, "\n%s, %s\n", op, Size(n))
	t := table.New("lrRRRRRr")
	t.Row("", "median", "±", "MB/s", "allocs", "token B", "overhead", "ratio")
	for _, s := range r.Subjects {
		p := Place{s.Name, op, n}
		c := r.cells[p]
		if c == nil {
			continue
		}
		median, spread := c.median()
		t.Row(s.Name, Duration(median), spread, digits(float64(n)/median*1e3), c.allocs(),
			fmt.Sprint(c.TokenSize), fmt.Sprintf("%+d", c.TokenSize-n), ratioAt(ratios, p))
	}
	b.WriteString(t.Text(width))
}

// ratioAt returns the first ratio of a place, with the name of the other place.
func ratioAt(ratios []Ratio, p Place) string {
	for _, r := range ratios {
		if r.Of == p {
			return fmt.Sprintf("%s × %s", times(r.Interval), r.other())
		}
	}
	return ""
}

// other returns a short name of the place that a ratio is to.
func (r Ratio) other() string {
	if r.Relation == runfile.OverDesign || r.Relation == runfile.OverOurs {
		return r.To.Subject
	}
	return string(r.Relation)
}

func (r *Run) writeRefusals(b *strings.Builder, op runfile.Op, width int) {
	fmt.Fprintf(b, "\n%s\n", op)
	t := table.New("lrRrRrRrRr")
	head := []string{""}
	for _, n := range r.sizes() {
		head = append(head, Size(n), "±")
	}
	t.Row(head...)
	for _, s := range r.Subjects {
		row := []string{s.Name}
		for _, n := range r.sizes() {
			if c := r.cells[Place{s.Name, op, n}]; c != nil {
				median, spread := c.median()
				row = append(row, Duration(median), spread)
			}
		}
		if len(row) > 1 {
			t.Row(row...)
		}
	}
	b.WriteString(t.Text(width))
}

// median returns the median time of an operation in nanoseconds and the
// half-width of its interval as text.
func (c *Series) median() (ns float64, spread string) {
	s := c.summary()
	return s.Center, s.PctRangeString()
}

func (c *Series) summary() benchmath.Summary {
	values := slices.Clone(c.Ns) // the sample sorts its values
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), 0.95)
}

func (c *Series) allocs() string {
	if !c.Counted {
		return "-"
	}
	return fmt.Sprint(c.Allocs)
}

func (r *Run) writeAllocating(b *strings.Builder) {
	places := r.Allocating()
	if len(places) == 0 {
		b.WriteString("no design allocates without a stated reason\n")
		return
	}
	for _, p := range places {
		fmt.Fprintf(b, "  missed: %v allocates %s\n", p, table.Count(int(r.cells[p].Allocs), "time"))
	}
}

// A Measurement holds the results of a run at one place.
type Measurement struct {
	Place
	Ns, Low, High float64 // median time with its 95 % interval
	TokenSize     int     // bytes
	Allocs        string  // per operation; "-" if not counted
	Ratio         string  // to its baseline or design, with the interval; "" if none
}

// NsText returns the time with a unit.
func (m Measurement) NsText() string { return Duration(m.Ns) }

// Measurements returns every place of the run, in the order of reports.
func (r *Run) Measurements() ([]Measurement, error) {
	ratios, err := r.Ratios()
	if err != nil {
		return nil, err
	}
	all := make([]Measurement, 0, len(r.places))
	for _, p := range r.places {
		c := r.cells[p]
		s := c.summary()
		all = append(all, Measurement{p, s.Center, s.Lo, s.Hi, c.TokenSize, c.allocs(), ratioAt(ratios, p)})
	}
	return all, nil
}
