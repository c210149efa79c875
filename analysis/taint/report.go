package taint

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"sealab/analysis/findings"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/atomicfile"
	"sealab/internal/runfile"
	"sealab/internal/verdict"
)

// JudgementFile is the name of a judgement beside the logs that it is of.
const JudgementFile = "taint.json"

// Write writes the judgement into the run's folder, in place of an older one.
func (j *Judgement) Write(dir string) error {
	text, err := json.MarshalIndent(j, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, JudgementFile), append(text, '\n'))
}

// Read returns the judgement in a run's folder. The error is fs.ErrNotExist where
// there is none.
func Read(dir string) (*Judgement, error) {
	path := filepath.Join(dir, JudgementFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	j := new(Judgement)
	if err := json.Unmarshal(text, j); err != nil {
		return nil, fmt.Errorf("%s: want a judgement: %w", path, err)
	}
	return j, nil
}

// WriteTable writes the judgement for a terminal: the controls with the lines
// that they were found by, the designs, and what stands, at most lines of it for
// each design.
func (j *Judgement) WriteTable(w io.Writer, lines int) error {
	fmt.Fprintf(w, "judged under %s with %s: AVX2 %s, AVX-512 %s, SHA-NI %s\n\n",
		j.Stamp["valgrind"], j.Stamp["toolchain"], j.Stamp["avx2"], j.Stamp["avx512"], j.Stamp["sha-ni"])
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "subject\tverdict\tin refusals\telsewhere\tdeclassified\t")
	for _, v := range j.Verdicts {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t\n", v.Subject, j.word(v), len(v.Against), len(v.Observed), len(v.Declassified))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, v := range j.Verdicts {
		v.writeFindings(w, lines)
	}
	j.writeReasons(w)
	for _, reason := range j.Unused {
		fmt.Fprintf(w, "a reason that nothing needed: %s\n", reason)
	}
	for _, fault := range j.Faults {
		fmt.Fprintf(w, "void: %s\n", fault)
	}
	return nil
}

// word returns the verdict as the table has it.
func (j *Judgement) word(v *Verdict) string {
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

func (v *Verdict) writeFindings(w io.Writer, most int) {
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

// writeReasons writes every reason that was used, with the lines that it is for.
func (j *Judgement) writeReasons(w io.Writer) {
	lines := map[string][]string{}
	for _, v := range j.Verdicts {
		for _, f := range v.Declassified {
			line := fmt.Sprintf("%s:%d", f.File, f.Line)
			if !slices.Contains(lines[f.Reason], line) {
				lines[f.Reason] = append(lines[f.Reason], line)
			}
		}
	}
	fmt.Fprintln(w, "\ndeclassified, each with its reason:")
	for _, row := range declassified {
		if at := lines[row.reason]; len(at) > 0 {
			slices.Sort(at)
			fmt.Fprintf(w, "  %s\n    %v\n", row.reason, at)
			delete(lines, row.reason)
		}
	}
}

// Refuted reports whether anything goes against a guarantee.
func (j *Judgement) Refuted() bool {
	return slices.ContainsFunc(j.Verdicts, func(v *Verdict) bool { return v.Outcome == verdict.Refuted })
}

// Findings returns what stands in the judgement, in the form of the attacks'
// findings: one for what is against a design, one for what is observed. dir is
// the folder under which the logs will be found.
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

// form returns an observation of lines that depend on secrets.
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

// NotTested returns the number of designs that could not be run.
func (j *Judgement) NotTested() int {
	n := 0
	for _, v := range j.Verdicts {
		if v.Expect == runfile.Open && v.Outcome == verdict.NotTested {
			n++
		}
	}
	return n
}
