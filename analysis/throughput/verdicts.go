package throughput

import (
	"fmt"
	"io"
	"slices"

	"sealab/internal/runfile"
)

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
