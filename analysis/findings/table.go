package findings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/internal/table"
	"sealab/internal/verdict"
)

// claimText is the text of a claim for readers.
var claimText = map[verdict.Claim]string{verdict.Stated: "stated", verdict.Disclaims: "disclaimed", verdict.Silent: "not stated"}

// refuters returns the attacks that refuted a property.
func refuters(s verdict.Design, p codecs.Property) []string {
	var by []string
	for _, c := range s.Results {
		if c.Property == p && c.Outcome == verdict.Refuted {
			by = append(by, c.Attack)
		}
	}
	return by
}

// status returns an outcome as text for the table.
func status(t verdict.Tally) string {
	mark := map[verdict.Claim]string{verdict.Stated: "", verdict.Disclaims: " (disclaimed)", verdict.Silent: " (not stated)"}[t.Claim]
	return string(t.Outcome) + mark
}

// Table writes a table of guarantees for each design. Side by side, the designs would not fit a terminal.
func Table(w io.Writer, run *verdict.Run) error {
	width := table.Width(w)
	for _, s := range run.Designs {
		t := table.New("lll")
		for _, x := range s.Tallies() {
			t.Row(string(x.Property), status(x), grounds(s, x))
		}
		if _, err := fmt.Fprintf(w, "%s (%s, %s)\n%s\n", s.Name, s.Kind, table.Count(s.Calls, "call"), t.Text(width)); err != nil {
			return err
		}
	}
	return nil
}

// grounds returns the reasons for an outcome.
func grounds(s verdict.Design, t verdict.Tally) string {
	count := table.Count(t.Of, "attack")
	if t.Done < t.Of {
		count = fmt.Sprintf("%d of %s", t.Done, count)
	}
	switch {
	case t.Outcome == verdict.Refuted:
		return "by " + strings.Join(refuters(s, t.Property), ", ")
	case t.Outcome == verdict.NotRefuted:
		return strings.Join(append([]string{count}, notes(s, t.Property)...), "; ")
	case t.Of > 0:
		return count + ": " + t.Reason
	default:
		return t.Reason
	}
}

// notes returns how far the attacks on a property went, if they noted it.
func notes(s verdict.Design, p codecs.Property) []string {
	var said []string
	for _, c := range s.Results {
		if c.Property == p && c.Note != "" {
			said = append(said, c.Attack+" "+c.Note)
		}
	}
	return said
}

// MarkdownTable returns a Markdown table of designs by guarantees.
func MarkdownTable(run *verdict.Run) []byte {
	var b strings.Builder
	b.WriteString("# Guarantees by designs\n\n")
	fmt.Fprintf(&b, "Seed %d. In parentheses: what the design says where it does not state the property.\n\n| design |", run.Seed)
	for _, info := range codecs.Properties() {
		fmt.Fprintf(&b, " %s |", info.Property)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(codecs.Properties())) + "\n")
	for _, s := range run.Designs {
		fmt.Fprintf(&b, "| %s |", s.Name)
		all := s.Tallies()
		for _, info := range codecs.Properties() {
			i := slices.IndexFunc(all, func(t verdict.Tally) bool { return t.Property == info.Property })
			switch {
			case i < 0:
				b.WriteString(" - |")
			case all[i].Outcome == verdict.Refuted:
				fmt.Fprintf(&b, " %s: %s |", status(all[i]), strings.Join(refuters(s, info.Property), " "))
			default:
				fmt.Fprintf(&b, " %s |", status(all[i]))
			}
		}
		b.WriteString("\n")
	}
	return []byte(b.String())
}

// JSON returns the findings as a JSON array that follows the schema.
func JSON(all []Finding) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(all); err != nil {
		return nil, fmt.Errorf("findings: %w", err)
	}
	return b.Bytes(), nil
}

// Read parses findings written by JSON and validates them.
func Read(data []byte) ([]Finding, error) {
	if err := Validate(data); err != nil {
		return nil, err
	}
	var all []Finding
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("findings: %w", err)
	}
	return all, nil
}

// Text writes the findings for a terminal.
func Text(w io.Writer, all []Finding) error {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%s %s  %s, %s%s\n", strings.ToUpper(string(f.Severity)), f.ID, f.Location.Subject(), f.Category, f.Location.claim())
		fmt.Fprintf(&b, "  issue         %s %s\n", f.Location.Attack, f.Issue)
		fmt.Fprintf(&b, "  evidence      %s\n", f.lines())
		fmt.Fprintf(&b, "  impact        %s\n", f.Impact)
		fmt.Fprintf(&b, "  fix           %s\n", f.Fix)
		fmt.Fprintf(&b, "  verification  %s\n", f.Verification)
		if f.Confirmed != nil {
			fmt.Fprintf(&b, "  confirmed     %s\n  reproducer    %s\n", f.Confirmed.Shows, f.Confirmed.Line)
		}
		fmt.Fprintln(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lines returns the evidence of a finding, each call on its own line.
func (f *Finding) lines() string {
	if f.Reproducer == nil {
		return f.Evidence
	}
	return strings.Join(steps(*f.Reproducer), "\n                ")
}

// Markdown returns the findings as a Markdown page.
func Markdown(all []Finding) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Findings\n\n%d findings.\n", len(all))
	for _, f := range all {
		fmt.Fprintf(&b, "\n## %s: %s, %s\n\n", f.ID, escaped(f.Location.Subject()), f.Category)
		if f.Location.Server == nil {
			fmt.Fprintf(&b, "- severity: %s (the property is %s)\n- attack: %s\n", f.Severity, claimText[f.Location.Word], f.Location.Attack)
		} else {
			fmt.Fprintf(&b, "- severity: %s\n- check: %s\n", f.Severity, f.Location.Attack)
		}
		fmt.Fprintf(&b, "- issue: %s\n- evidence: %s\n- impact: %s\n- fix: %s\n", escaped(f.Issue), escaped(f.Evidence), f.Impact, f.Fix)
		fmt.Fprintf(&b, "- verification: `%s`\n", f.Verification)
		if f.Confirmed != nil {
			fmt.Fprintf(&b, "- confirmed: %s\n- without the laboratory: ```%s``` prints `%s`\n", escaped(f.Confirmed.Shows), f.Confirmed.Line, f.Confirmed.Prints)
		}
	}
	return b.Bytes()
}

// escaped escapes the characters that Markdown would interpret.
func escaped(s string) string {
	return strings.NewReplacer("<", "&lt;", "`", "'", "|", `\|`, "*", `\*`, "_", `\_`, "[", `\[`).Replace(s)
}
