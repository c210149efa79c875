package throughput

import (
	"fmt"
	"slices"
	"strings"

	"sealab/internal/runfile"
	"sealab/internal/table"
)

// writeChecks writes every threshold with its ratios, a column per size, and then the missed ones.
func (r *Run) writeChecks(b *strings.Builder, checks []Check, width int) {
	b.WriteString("\nthresholds (! missed, ~ the interval holds the threshold)\n")
	if len(checks) == 0 {
		b.WriteString("  not tested: this run compares nothing that has a threshold\n")
		return
	}
	sizes := r.sizes()
	head := []string{""}
	for _, n := range sizes {
		head = append(head, Size(n))
	}
	t := table.New("lr")
	t.Row(append(head, "threshold")...)
	for _, line := range bySize(checks) {
		row := []string{line[0].Label()}
		for _, n := range sizes {
			i := slices.IndexFunc(line, func(c Check) bool { return c.Of.Size == n })
			if i < 0 {
				row = append(row, "")
				continue
			}
			row = append(row, line[i].Mark())
		}
		t.Row(append(row, line[0].Threshold.String())...)
	}
	b.WriteString(t.Text(width))
	b.WriteString(reachedLine(checks))
	for _, c := range checks {
		if !c.Reached() {
			r.writeMissed(b, c)
		}
	}
	r.writeAllocating(b)
}

// reachedLine counts the thresholds that were reached.
func reachedLine(checks []Check) string {
	reached, unsure := 0, 0
	for _, c := range checks {
		if c.Reached() {
			reached++
		}
		if !c.Sure() {
			unsure++
		}
	}
	if len(checks) == 0 {
		return "thresholds not tested: this run compares nothing that has one\n"
	}
	return fmt.Sprintf("%d of %d thresholds reached; %d are in doubt, because the interval holds the threshold\n", reached, len(checks), unsure)
}

func (r *Run) writeMissed(b *strings.Builder, c Check) {
	fmt.Fprintf(b, "  missed: %s, %s: %s, %s %g: %s short%s\n",
		c.ratioOf(c.Of.Subject), Size(c.Of.Size), times(c.Interval), c.side(), c.Limit, percent(c.Short()), r.possible(c))
}

// bySize groups checks that differ only in size, in order.
func bySize(checks []Check) [][]Check {
	var all [][]Check
	for _, c := range checks {
		i := slices.IndexFunc(all, func(group []Check) bool { return group[0].Label() == c.Label() })
		if i < 0 {
			all = append(all, []Check{c})
			continue
		}
		all[i] = append(all[i], c)
	}
	return all
}

// Label returns the name of a check's ratio. It names no library, because the fastest one may differ
// between sizes.
func (c Check) Label() string {
	if c.ofLibrary() {
		return c.ratioOf("fastest library")
	}
	return c.ratioOf(c.Of.Subject)
}

func (c Check) ratioOf(subject string) string {
	other := c.To.Subject
	if c.Ratio.Relation == runfile.OverRing {
		other = string(c.To.Op)
	}
	return fmt.Sprintf("%s %s / %s", subject, c.Of.Op, other)
}

// Mark returns the ratio with its marks for the table.
func (c Check) Mark() string {
	text := digits(c.Point)
	if !c.Reached() {
		text = "!" + text
	}
	if !c.Sure() {
		text = "~" + text
	}
	return text
}

// possible returns, for a library that is too close, the ratio of the library to the design's baseline. No
// design can reach a higher ratio.
func (r *Run) possible(c Check) string {
	if c.Ratio.Relation != runfile.OverOurs {
		return ""
	}
	for _, to := range r.comparable(c.To) {
		if to.Relation == runfile.OverBaseline {
			library, _ := r.Median(c.Of)
			bottom, _ := r.Median(to.Place)
			return fmt.Sprintf("; %s itself would be at %s", to.Subject, digits(library/bottom))
		}
	}
	return ""
}
