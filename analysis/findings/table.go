package findings

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// said is how the table writes a design's word.
var said = map[verdict.Word]string{verdict.Stated: "stated", verdict.Disclaims: "disclaimed", verdict.Silent: "not stated"}

// A status is the outcome of all attacks on one property of one subject.
type status struct {
	verdict verdict.Verdict
	word    verdict.Word
	by      []string // the attacks that refuted it
	tried   int      // attacks that were exercised
}

// statusOf joins the cells of a property: it is refuted where one attack refutes
// it, and not tested if no attack was.
func statusOf(s verdict.Subject, p codecs.Property) (status, bool) {
	st := status{verdict: verdict.Unexercised}
	found := false
	for _, c := range s.Cells {
		if c.Property != p {
			continue
		}
		found, st.word = true, c.Word
		switch c.Verdict {
		case verdict.Refuted:
			st.by = append(st.by, c.Attack)
			st.verdict = verdict.Refuted
			st.tried++
		case verdict.Standing:
			st.tried++
			if st.verdict == verdict.Unexercised {
				st.verdict = verdict.Standing
			}
		}
	}
	return st, found
}

// text is the status in a cell of the table. A disclaimed property that stands
// says that the attacks are blind or the design is better than it says.
func (st status) text() string {
	mark := map[verdict.Word]string{verdict.Stated: "", verdict.Disclaims: " (disclaimed)", verdict.Silent: " (not stated)"}[st.word]
	switch {
	case st.verdict == verdict.Refuted && st.word == verdict.Disclaims:
		return "falls" + mark
	case st.verdict == verdict.Refuted:
		return "refuted" + mark
	case st.verdict == verdict.Standing && st.word == verdict.Disclaims:
		return string(st.verdict) + mark + ": blind, or better than it says"
	default:
		return string(st.verdict) + mark
	}
}

// Table writes guarantees by designs, one block per design: a terminal is not
// wide enough for all designs side by side.
func Table(w io.Writer, run *verdict.Run) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range run.Subjects {
		fmt.Fprintf(tw, "%s (%s, %d calls)\n", s.Name, s.Kind, s.Calls)
		for _, info := range codecs.Properties() {
			st, ok := statusOf(s, info.Property)
			if !ok {
				continue
			}
			fmt.Fprintf(tw, "  %s\t%s\t%s\n", info.Property, st.text(), grounds(s, info.Property, st))
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}

// grounds says what a status rests on.
func grounds(s verdict.Subject, p codecs.Property, st status) string {
	switch st.verdict {
	case verdict.Refuted:
		return "by " + strings.Join(st.by, ", ")
	case verdict.Standing:
		return strings.Join(append([]string{fmt.Sprintf("%d attacks", st.tried)}, notes(s, p)...), "; ")
	}
	for _, c := range s.Cells {
		if c.Property == p && c.Reason != "" {
			return c.Reason
		}
	}
	return ""
}

// notes are how far the attacks on a property went, where that is said.
func notes(s verdict.Subject, p codecs.Property) []string {
	var said []string
	for _, c := range s.Cells {
		if c.Property == p && c.Note != "" {
			said = append(said, c.Attack+" "+c.Note)
		}
	}
	return said
}

// MarkdownTable returns guarantees by designs as one Markdown table.
func MarkdownTable(run *verdict.Run) []byte {
	var b strings.Builder
	b.WriteString("# Guarantees by designs\n\n")
	fmt.Fprintf(&b, "Seed %d. In parentheses: what the design says where it does not state the property.\n\n| property |", run.Seed)
	for _, s := range run.Subjects {
		fmt.Fprintf(&b, " %s |", s.Name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(run.Subjects)) + "\n")
	for _, info := range codecs.Properties() {
		fmt.Fprintf(&b, "| %s |", info.Property)
		for _, s := range run.Subjects {
			st, ok := statusOf(s, info.Property)
			switch {
			case !ok:
				b.WriteString(" - |")
			case st.verdict == verdict.Refuted:
				fmt.Fprintf(&b, " %s: %s |", st.text(), strings.Join(st.by, " "))
			default:
				fmt.Fprintf(&b, " %s |", st.text())
			}
		}
		b.WriteString("\n")
	}
	return []byte(b.String())
}
