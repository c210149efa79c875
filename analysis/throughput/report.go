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

// writeVerdicts writes every bar with what was measured against it, a column
// for each size, and then each one that is not reached.
func (r *Run) writeVerdicts(w io.Writer, ratios []Ratio) {
	verdicts := r.Verdicts(ratios)
	fmt.Fprint(w, "\nbars (! not reached, ~ the interval holds the bar)\n")
	if len(verdicts) == 0 {
		fmt.Fprintln(w, "  unexercised: this run compares nothing that has a bar")
		return
	}
	sizes := r.sizes()
	var t table
	head := []string{""}
	for _, n := range sizes {
		head = append(head, size(n))
	}
	t.row(append(head, "bar")...)
	for _, line := range lines(verdicts) {
		t.row(line.row(sizes)...)
	}
	t.write(w)

	missed := slices.DeleteFunc(slices.Clone(verdicts), Verdict.Reached)
	unsure := slices.DeleteFunc(slices.Clone(verdicts), Verdict.Sure)
	fmt.Fprintf(w, "%d of %d bars reached; %d are in doubt, because the interval holds the bar\n",
		len(verdicts)-len(missed), len(verdicts), len(unsure))
	for _, v := range missed {
		fmt.Fprintf(w, "  not reached: %s, %s: %s, %s: %s short%s\n",
			v.what(v.Of.Subject), size(v.Of.Size), times(v.Interval), v.limit(), percent(v.Short()), r.possible(v))
	}
	r.writeAllocating(w)
}

// A line is the verdicts that differ in size alone.
type line []Verdict

// lines groups verdicts, in order.
func lines(verdicts []Verdict) []line {
	var all []line
	at := map[string]int{}
	for _, v := range verdicts {
		what := v.label()
		i, ok := at[what]
		if !ok {
			i = len(all)
			at[what] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], v)
	}
	return all
}

// row returns the line with a field for each of the sizes.
func (l line) row(sizes []int) []string {
	row := []string{l[0].label()}
	limits := ""
	for _, n := range sizes {
		i := slices.IndexFunc(l, func(v Verdict) bool { return v.Of.Size == n })
		if i < 0 {
			row = append(row, "")
			continue
		}
		row = append(row, l[i].mark())
		if text := l[i].limit(); text != limits && limits == "" {
			limits = text
		} else if text != limits {
			limits = fmt.Sprintf("at most %g below 1 KiB, then %g", l[0].Limit, l[i].Limit)
		}
	}
	return append(row, limits)
}

// label says which ratio was measured; of peers, that it is the fastest.
func (v Verdict) label() string {
	if v.Relation == OverOurs {
		return v.what("fastest peer")
	}
	return v.what(v.Of.Subject)
}

func (v Verdict) what(of string) string {
	other := v.To.Subject
	if v.Relation == OverRing {
		other = string(v.To.Op)
	}
	return fmt.Sprintf("%s %s / %s", of, v.Of.Op, other)
}

func (v Verdict) limit() string {
	if v.Bar.AtLeast {
		return fmt.Sprintf("at least %g", v.Limit)
	}
	return fmt.Sprintf("at most %g", v.Limit)
}

// mark returns the ratio with what it is to the bar.
func (v Verdict) mark() string {
	text := digits(v.Point)
	if !v.Reached() {
		text = "!" + text
	}
	if !v.Sure() {
		text = "~" + text
	}
	return text
}

// possible says of a peer that is too close how close it is to the floor: no
// design can be further from the peer than its floor is.
func (r *Run) possible(v Verdict) string {
	ours := r.named(v.To.Subject)
	floor := r.subject(func(s runfile.Subject) bool {
		return s.Role == runfile.RoleFloor && s.Primitive == ours.Primitive
	})
	if v.Relation != OverOurs || floor == nil {
		return ""
	}
	least := r.cells[Place{floor.Name, v.To.Op, v.To.Size}]
	if least == nil {
		return ""
	}
	peer, _ := r.cells[v.Of].median()
	bottom, _ := least.median()
	return fmt.Sprintf("; %s itself would be at %s", floor.Name, digits(peer/bottom))
}

func (r *Run) writeAllocating(w io.Writer) {
	places := r.Allocating()
	if len(places) == 0 {
		fmt.Fprintln(w, "no allocations by designs with a primitive: reached")
		return
	}
	for _, p := range places {
		fmt.Fprintf(w, "  not reached: no allocations: %v allocates %d times\n", p, r.cells[p].Allocs)
	}
}
