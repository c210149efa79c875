package findings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// JSON returns the findings as the array that the schema describes.
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

// Read returns the findings that JSON wrote, and checks them against the schema.
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

// lines is the evidence of a finding, each call on a line of its own.
func (f *Finding) lines() string {
	if f.Reproducer == nil {
		return f.Evidence
	}
	return strings.Join(steps(*f.Reproducer), "\n                ")
}

// Markdown returns the findings as a page.
func Markdown(all []Finding) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Findings\n\n%d findings.\n", len(all))
	for _, f := range all {
		fmt.Fprintf(&b, "\n## %s: %s, %s\n\n", f.ID, escaped(f.Location.Subject()), f.Category)
		if f.Location.Server == nil {
			fmt.Fprintf(&b, "- severity: %s (the property is %s)\n- attack: %s\n", f.Severity, said[f.Location.Word], f.Location.Attack)
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

// escaped escapes the characters of a token that Markdown would interpret.
func escaped(s string) string {
	return strings.NewReplacer("<", "&lt;", "`", "'", "|", `\|`, "*", `\*`, "_", `\_`, "[", `\[`).Replace(s)
}
