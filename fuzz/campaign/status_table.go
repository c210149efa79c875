package campaign

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteTable writes the status as text: a line for each target, then each
// crasher with its stack. "newest" is the age of the last new input. The lines
// of a campaign of days on all targets fit a terminal of 80 columns, which is
// why a column's name is one word and one space apart.
func (s Status) WriteTable(w io.Writer, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 1, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "target\texecutions\texec/s\ttime\tcoverage\tcorpus\tnew\tnewest\tcrashers\t")
	for _, t := range s.Targets {
		fmt.Fprintf(table, "%s\t%d\t%.0f\t%s\t%d\t%d\t%d\t%s\t%d\t\n", t.Name, t.Executions, t.Mean(), seconds(t.Seconds),
			t.Coverage, t.Corpus, t.New, age(t.LastNew, now), len(t.Crashers))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	for _, t := range s.Targets {
		for _, k := range t.Crashers {
			fmt.Fprintf(w, "\n%s %s: %s\n", k.Target, k.Bucket, oneLine(k.Text))
			fmt.Fprintf(w, "  %d bytes, minimized to %d%s; %s\n", k.Size, k.Minimized, k.Condition(), k.Dir)
			for _, frame := range k.Stack[:min(len(k.Stack), framesShown)] {
				fmt.Fprintf(w, "    %s\n", frame)
			}
		}
	}
	for _, n := range s.Notices[max(0, len(s.Notices)-noticesShown):] {
		fmt.Fprintf(w, "\nnotice: %s\n", n)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", s.Summary())
	return err
}

const (
	framesShown  = 8
	noticesShown = 10
)

// Condition says what a crasher needs beside its input, if anything.
func (k Crasher) Condition() string {
	switch {
	case k.Alone:
		return ""
	case k.After > 0:
		return fmt.Sprintf(", fails after what is in history/: %d", k.After)
	case k.Unexplained == "":
		return ", does not fail again: a campaign before histories and reasons were kept filed it"
	}
	return ", does not fail again: " + k.Unexplained
}

// Crashers counts the crashers of all targets.
func (s Status) Crashers() (n int) {
	for _, t := range s.Targets {
		n += len(t.Crashers)
	}
	return n
}

// Executions counts those of all targets.
func (s Status) Executions() (n int64) {
	for _, t := range s.Targets {
		n += t.Executions
	}
	return n
}

// Summary says in one line how far the campaign has come.
func (s Status) Summary() string {
	var idle []string
	for _, t := range s.Targets {
		if t.Executions == 0 {
			idle = append(idle, t.Name)
		}
	}
	line := fmt.Sprintf("%d targets, %d executions in %s of one core, %d crashers",
		len(s.Targets), s.Executions(), seconds(s.Ran), s.Crashers())
	if len(idle) > 0 {
		line += "; skipped: " + strings.Join(idle, ", ")
	}
	return line
}

// Mean is the number of executions a second over all time.
func (t TargetStatus) Mean() float64 {
	if t.Seconds == 0 {
		return 0
	}
	return float64(t.Executions) / t.Seconds
}

func seconds(s float64) string { return (time.Duration(s) * time.Second).String() }

// age is how long ago something was.
func age(then, now time.Time) string {
	if then.IsZero() {
		return "never"
	}
	return now.Sub(then).Truncate(time.Second).String()
}
