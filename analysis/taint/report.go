package taint

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"sealab/analysis/findings"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/atomicfile"
	"sealab/internal/runfile"
	"sealab/internal/table"
	"sealab/internal/verdict"
)

// JudgementFile is the name of a judgement in the folder of its logs.
const JudgementFile = "taint.json"

// Write writes the judgement into the run's folder and replaces an older one.
func (j *Judgement) Write(dir string) error {
	return atomicfile.WriteJSON(filepath.Join(dir, JudgementFile), j, " ")
}

// Read returns the judgement in a run's folder. The error is fs.ErrNotExist if there is none.
func Read(dir string) (*Judgement, error) {
	j := new(Judgement)
	return j, atomicfile.ReadJSON(filepath.Join(dir, JudgementFile), j, "a judgement")
}

// WriteTable writes the judgement for a terminal of the given width: the outcome of each control and
// design, and up to lines lines that depend on secrets for each subject.
func (j *Judgement) WriteTable(w io.Writer, lines, width int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "judged under %s with %s: AVX2 %s, AVX-512 %s, SHA-NI %s\n\n",
		j.Stamp["valgrind"], j.Stamp["toolchain"], j.Stamp["avx2"], j.Stamp["avx512"], j.Stamp["sha-ni"])
	t := table.New("llr")
	t.Row("subject", "outcome", "in refusals", "elsewhere", "declassified")
	for _, v := range j.Verdicts {
		t.Row(v.Subject, j.word(v), fmt.Sprint(len(v.Against)), fmt.Sprint(len(v.Observed)), fmt.Sprint(len(v.Declassified)))
	}
	b.WriteString(t.Text(width))
	for _, v := range j.Verdicts {
		v.writeFindings(&b, lines)
	}
	j.writeReasons(&b)
	for _, reason := range j.Unused {
		fmt.Fprintf(&b, "unused reason: %s\n", reason)
	}
	for _, fault := range j.Faults {
		fmt.Fprintf(&b, "void: %s\n", fault)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// word returns the outcome as text of the table.
func (j *Judgement) word(v *Result) string {
	switch {
	case v.Outcome == verdict.NotTested || v.Expect == runfile.Open:
		return string(v.Outcome)
	case v.Expect == runfile.Leaks && len(v.Observed) > 0:
		return "found, as it must be"
	case v.Expect == runfile.Clean && len(v.Observed) == 0:
		return "clean, as it must be"
	}
	return "wrong"
}

func (v *Result) writeFindings(w *strings.Builder, most int) {
	all := slices.Concat(v.Against, v.Observed)
	if len(all) == 0 && v.Outcome != verdict.NotTested {
		return
	}
	fmt.Fprintf(w, "\n%s: %s\n", v.Subject, v.Why)
	for i, f := range all {
		if i == most {
			fmt.Fprintf(w, "  and %d more in %s\n", len(all)-most, JudgementFile)
			return
		}
		fmt.Fprintf(w, "  %v\n", f)
	}
}

// writeReasons writes every reason that was used, with the functions to which it applied.
func (j *Judgement) writeReasons(w *strings.Builder) {
	functions := map[string][]string{}
	for _, v := range j.Verdicts {
		for _, f := range v.Declassified {
			if !slices.Contains(functions[f.Reason], f.Function) {
				functions[f.Reason] = append(functions[f.Reason], f.Function)
			}
		}
	}
	w.WriteString("\ndeclassified, each with its reason:\n")
	for _, row := range declassified {
		if at := functions[row.reason]; len(at) > 0 {
			slices.Sort(at)
			fmt.Fprintf(w, "  %s\n    %s\n", row.reason, strings.Join(at, " "))
		}
	}
}

// Refuted reports whether any guarantee is refuted.
func (j *Judgement) Refuted() bool {
	return slices.ContainsFunc(j.Verdicts, func(v *Result) bool { return v.Outcome == verdict.Refuted })
}

// Findings returns the lines that depend on secrets as findings: at most one for refusals and one for
// observations of each design. dir is the folder of the logs.
func (j *Judgement) Findings(dir string) ([]findings.Finding, error) {
	var all []findings.Finding
	for _, v := range j.Verdicts {
		if v.Expect != runfile.Open {
			continue
		}
		d, err := catalog.Find(v.Subject)
		if err != nil {
			return nil, err
		}
		if len(v.Against) > 0 {
			f := form(&d, "taint:refusal", v.Against, dir)
			f.Severity, f.Location.Word = findings.Warning, verdict.Stated
			all = append(all, f)
		}
		if len(v.Observed) > 0 {
			all = append(all, form(&d, "taint:elsewhere", v.Observed, dir))
		}
	}
	return all, nil
}

// form returns a finding that observes lines that depend on secrets.
func form(d *codecs.Design, attack string, lines []Finding, dir string) findings.Finding {
	first := lines[0]
	return findings.Finding{
		ID: findings.ID(d.Name, attack, codecs.SteadyTiming), Severity: findings.Suggestion, Category: codecs.SteadyTiming,
		Location:     findings.Location{Design: d.Name, Kind: d.Kind(), Attack: attack, Word: verdict.Silent},
		Issue:        fmt.Sprintf("%d lines have a branch or an address that depends on a secret", len(lines)),
		Evidence:     fmt.Sprintf("%v; all are in %s/%s", first, dir, JudgementFile),
		Impact:       fmt.Sprintf("time and cache tell something of the %s to whoever measures on the same machine", first.Secret),
		Fix:          "read secrets with code whose branches and addresses do not depend on them, or say that their content shows in the time",
		Verification: "sealab leak taint --judge-only " + dir,
	}
}

// NotTested returns the number of designs that could not run.
func (j *Judgement) NotTested() int {
	n := 0
	for _, v := range j.Verdicts {
		if v.Expect == runfile.Open && v.Outcome == verdict.NotTested {
			n++
		}
	}
	return n
}
