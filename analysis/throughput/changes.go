package throughput

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"sealab/internal/runfile"
	"sealab/internal/table"
)

// maxAlone is the number of measurements in only one run that are listed by name.
const maxAlone = 3

// Report writes the geometric means of each group and then up to rows changes, for a terminal of the given
// width. If rows is 0, it writes all changes.
func (c *Comparison) Report(w io.Writer, rows, width int) error {
	var b strings.Builder
	c.writeMeans(&b, width)
	c.writeChanges(&b, rows, width)
	fmt.Fprintf(&b, "noise floor %s: a subject against itself %s and %s, drift of the baselines %s\n",
		percent(c.Noise), percent(c.OldNoise), percent(c.NewNoise), percent(c.Drift))
	if !c.Timed() {
		fmt.Fprintf(&b, "not tested: the times, because the bare primitives changed by %s in the mean: the runs are of different machines\n", percent(c.shift))
	}
	if c.NewNoise > c.Noise {
		b.WriteString("warning: the newer run is noisier than that: measure it again if in doubt\n")
	}
	for _, part := range c.Unlike {
		fmt.Fprintf(&b, "warning: the runs differ in %s: their times compare badly\n", part)
	}
	if n := len(c.Alone); n > 0 {
		fmt.Fprintf(&b, "not tested: %d measurements are in one run only: %s", n, strings.Join(c.Alone[:min(maxAlone, n)], ", "))
		if n > maxAlone {
			b.WriteString(" and others")
		}
		b.WriteString("\n")
	}
	if blind := c.Blind(); blind > 0 && c.Timed() {
		fmt.Fprintf(&b, "not tested: %d of %d measurements have too few rounds to tell any change\n", blind, len(c.Changes))
	}
	changed := len(c.different())
	fmt.Fprintf(&b, "%d measurements: %d unchanged, %d changed, %d regressed\n",
		len(c.Changes), len(c.Changes)-changed, changed, len(c.Regressed()))
	_, err := io.WriteString(w, b.String())
	return err
}

// different returns the significant changes.
func (c *Comparison) different() []Change {
	return slices.DeleteFunc(slices.Clone(c.Changes), func(ch Change) bool { return !ch.Differs })
}

func (c *Comparison) writeChanges(b *strings.Builder, rows, width int) {
	all := c.different()
	if len(all) == 0 {
		return
	}
	t := table.New("lrrRrRrl")
	t.Row("changed most", "unit", "old", "±", "new", "±", "change", "")
	for i, ch := range all {
		if rows > 0 && i == rows {
			break
		}
		t.Row(ch.Name, unitLabel(ch.Unit), ch.value(ch.Old.Center), ch.spread(ch.Old.PctRangeString()),
			ch.value(ch.New.Center), ch.spread(ch.New.PctRangeString()), shareLabel(ch.Share()), ch.Word())
	}
	b.WriteString(t.Text(width))
	if rows > 0 && len(all) > rows {
		fmt.Fprintf(b, "  and %d more: --all lists them\n", len(all)-rows)
	}
	b.WriteString("\n")
}

// A group identifies the changes of one operation in one unit.
type group struct {
	op   runfile.Op
	unit string
}

// A roleGroup is a column of the geometric means.
type roleGroup struct {
	heading string
	roles   []runfile.Role
}

var roleGroups = []roleGroup{
	{"designs", []runfile.Role{runfile.RoleDesign, ""}},
	{"schemes", []runfile.Role{runfile.RoleScheme}},
	{"baselines", []runfile.Role{runfile.RoleBaseline}},
	{"libraries", []runfile.Role{runfile.RoleLibrary, runfile.RoleSDK}},
}

func (c *Comparison) writeMeans(b *strings.Builder, width int) {
	t := table.New("lrr")
	for _, row := range c.Means() {
		t.Row(row...)
	}
	if t.Len() > 1 {
		b.WriteString(t.Text(width) + "\n")
	}
}

// Means returns a table of the geometric means of the changes: a row for each operation and unit, a column
// for each role group. The first row is the heading.
func (c *Comparison) Means() [][]string {
	sums := map[group][]float64{}   // logarithms, one per role group
	counts := map[group][]float64{} // number of changes, one per role group
	var order []group
	for _, ch := range c.Changes {
		effect := math.Log(ch.New.Center / ch.Old.Center)
		column := slices.IndexFunc(roleGroups, func(g roleGroup) bool { return slices.Contains(g.roles, ch.Subject.Role) })
		if column < 0 || math.IsNaN(effect) || math.IsInf(effect, 0) {
			continue
		}
		g := group{ch.Op, ch.Unit}
		if sums[g] == nil {
			sums[g], counts[g] = make([]float64, len(roleGroups)), make([]float64, len(roleGroups))
			order = append(order, g)
		}
		sums[g][column] += effect
		counts[g][column]++
	}
	ops := runfile.Ops()
	slices.SortFunc(order, func(a, b group) int {
		if a.unit != b.unit {
			return strings.Compare(b.unit, a.unit) // sec/op first
		}
		return slices.Index(ops, a.op) - slices.Index(ops, b.op)
	})
	head := []string{"geometric mean", "unit"}
	for _, g := range roleGroups {
		head = append(head, g.heading)
	}
	rows := [][]string{head}
	for _, g := range order {
		if g.unit != "sec/op" && allZero(sums[g]) {
			continue
		}
		row := []string{string(g.op), unitLabel(g.unit)}
		for i, n := range counts[g] {
			cell := ""
			if n > 0 {
				cell = shareLabel(math.Exp(sums[g][i]/n) - 1)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

func allZero(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return v != 0 })
}

func unitLabel(unit string) string { return strings.Replace(unit, "sec/op", "time", 1) }

func (c Change) value(x float64) string {
	if c.Unit == "sec/op" {
		return Duration(x * 1e9)
	}
	return fmt.Sprintf("%.6g", x)
}

func (c Change) spread(text string) string {
	if c.exact {
		return ""
	}
	return text
}

// shareLabel formats a share in per cent. It returns "" if the old value is 0.
func shareLabel(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return ""
	}
	return fmt.Sprintf("%+.1f %%", share*100)
}

// Texts returns the change as text: the unit, the older and the newer value with their intervals, and the
// share.
func (c Change) Texts() (unit, older, newer, share string) {
	with := func(value, spread string) string {
		if spread == "" {
			return value
		}
		return value + " ± " + spread
	}
	return unitLabel(c.Unit), with(c.value(c.Old.Center), c.spread(c.Old.PctRangeString())),
		with(c.value(c.New.Center), c.spread(c.New.PctRangeString())), shareLabel(c.Share())
}

// Word returns the word for a change in reports.
func (c Change) Word() string {
	switch {
	case !c.Differs:
		return "unchanged"
	case c.Regressed():
		return "regressed"
	case !c.Beyond:
		return "within noise"
	case !c.ours():
		return "not ours"
	case c.Worse:
		return "worse"
	}
	return "improved"
}
