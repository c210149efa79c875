package proof

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// writeTable writes, for each bug and engine, how often it was found, and the
// median executions and seconds of the trials, of which those that found nothing
// count as longer than any.
func writeTable(w io.Writer, bugs []Bug, engines []string, trials []Trial) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "bug\ttarget")
	for _, e := range engines {
		fmt.Fprintf(t, "\t%s\texecutions\tseconds", e)
	}
	fmt.Fprintln(t)
	for _, bug := range bugs {
		fmt.Fprintf(t, "%s\t%s", bug.Name, bug.Target)
		for _, e := range engines {
			fmt.Fprintf(t, "\t%s", cell(trialsOf(trials, bug.Name, e)))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func trialsOf(trials []Trial, bug, engine string) []Trial {
	return slices.DeleteFunc(slices.Clone(trials), func(t Trial) bool { return t.Bug != bug || t.Engine != engine })
}

// cell is three columns: found of trials, median executions, median seconds.
func cell(trials []Trial) string {
	var found int
	for _, t := range trials {
		if t.Found {
			found++
		}
	}
	n := len(trials)
	switch {
	case n == 0:
		return "skipped\t\t"
	case 2*found <= n:
		return fmt.Sprintf("%d of %d\t-\t-", found, n)
	}
	slices.SortFunc(trials, func(a, b Trial) int { return compareSeconds(a, b) })
	median := trials[n/2]
	return fmt.Sprintf("%d of %d\t%d\t%.1f", found, n, median.Executions, median.Seconds)
}

// compareSeconds sorts trials that found nothing last.
func compareSeconds(a, b Trial) int {
	switch {
	case a.Found != b.Found && a.Found:
		return -1
	case a.Found != b.Found:
		return 1
	case a.Seconds < b.Seconds:
		return -1
	case a.Seconds > b.Seconds:
		return 1
	}
	return 0
}
