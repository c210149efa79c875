package throughput

import (
	"fmt"
	"io"
	"slices"

	"golang.org/x/perf/benchmath"

	"sealab/internal/runfile"
)

// Report writes everything that a run shows: a table for each operation and
// size, and the verdict on every bar.
func (r *Run) Report(w io.Writer) error {
	ratios, err := r.Ratios()
	if err != nil {
		return err
	}
	r.writeHead(w, ratios)
	for _, op := range r.ops() {
		if op.Refuses() {
			r.writeRefusals(w, op)
			continue
		}
		for _, n := range r.sizes() {
			r.writeOp(w, op, n, ratios)
		}
	}
	r.writeVerdicts(w, ratios)
	return nil
}

func (r *Run) writeHead(w io.Writer, ratios []Ratio) {
	fmt.Fprintf(w, "%s\n", r.Path)
	fmt.Fprintf(w, "commit %s%s, %s, %s, %s processors, %s\n", r.Stamp["commit"], dirty(r.Stamp["dirty"]),
		r.Stamp["toolchain"], r.Stamp["cpu"], r.Stamp["cpus"], r.Stamp["date"])
	fmt.Fprintf(w, "%d cells, %d rounds in random order, %s a cell (a quarter of it for schemes and refusals)\n", len(r.places), r.Rounds(), r.Stamp["cell"])
	fmt.Fprintf(w, "medians with 95 %% intervals; ratios are paired by rounds, and the intervals of all %d hold together at %.0f %%\n",
		len(ratios), Confidence*100)
	share, cells := Noise(ratios)
	if cells == 0 {
		fmt.Fprintln(w, "noise floor unexercised: no subject was measured twice")
		return
	}
	fmt.Fprintf(w, "noise floor %s: the largest difference between a subject and itself, of %d cells\n", percent(share), cells)
	if share > restless {
		fmt.Fprintln(w, "warning: that is not a quiet machine: all ratios are rough")
	}
}

// restless is the noise floor above which a report warns.
const restless = 0.05

func dirty(flag string) string {
	if flag == "true" {
		return " with changes"
	}
	return ""
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

func (r *Run) writeOp(w io.Writer, op runfile.Op, n int, ratios []Ratio) {
	fmt.Fprintf(w, "\n%s, %s\n", op, size(n))
	var t table
	t.row("", "median", "±", "MB/s", "allocs", "token B", "overhead", "ratio")
	for _, s := range r.Subjects {
		p := Place{s.Name, op, n}
		c := r.cells[p]
		if c == nil {
			continue
		}
		median, spread := c.median()
		t.row(s.Name, duration(median), spread, digits(float64(n)/median*1e3), c.allocs(),
			fmt.Sprint(c.TokenSize), fmt.Sprintf("%+d", c.TokenSize-n), ratioAt(ratios, p))
	}
	t.write(w)
}

// ratioAt returns the first ratio of a place and what it is held against.
func ratioAt(ratios []Ratio, p Place) string {
	for _, r := range ratios {
		if r.Of == p {
			return fmt.Sprintf("%s × %s", times(r.Interval), r.other())
		}
	}
	return ""
}

// other says briefly what a ratio is held against.
func (r Ratio) other() string {
	if r.Relation == OverDesign || r.Relation == OverOurs {
		return r.To.Subject
	}
	return string(r.Relation)
}

func (r *Run) writeRefusals(w io.Writer, op runfile.Op) {
	fmt.Fprintf(w, "\n%s\n", op)
	var t table
	head := []string{""}
	for _, n := range r.sizes() {
		head = append(head, size(n), "±")
	}
	t.row(head...)
	for _, s := range r.Subjects {
		row := []string{s.Name}
		for _, n := range r.sizes() {
			if c := r.cells[Place{s.Name, op, n}]; c != nil {
				median, spread := c.median()
				row = append(row, duration(median), spread)
			}
		}
		if len(row) > 1 {
			t.row(row...)
		}
	}
	t.write(w)
}

// median returns the median time of an operation in nanoseconds and the
// half-width of its interval as text.
func (c *Cell) median() (ns float64, spread string) {
	values := slices.Clone(c.Ns) // the sample sorts what it is given
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), 0.95)
	return s.Center, s.PctRangeString()
}

func (c *Cell) allocs() string {
	if !c.Counted {
		return "-"
	}
	return fmt.Sprint(c.Allocs)
}
