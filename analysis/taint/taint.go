// Package taint judges valgrind's reports on designs whose secrets were declared undefined. It lists each
// branch and address that depends on a secret, and each executed division, with function, file and line.
// It reads files that package bench/taint wrote.
//
// A report counts if the run without a secret has no report of the same kind with the same three innermost
// lines. It need not name a declared secret as its origin, because vector instructions lose the origin.
//
// A counted report is declassified if a row of the table gives a reason. A row names the function on whose
// result alone the line branches, or the function that contains the line, never a text. Any other report
// within the refusal of a token refutes the guarantee steady-timing. Any other report elsewhere is an
// observation: it reveals part of the payload or key to a process on the same machine, and no guarantee
// covers that. An example is parsing the claims of an authentic token.
//
// Limitations: every executed division is reported, whether or not its operands are secret. Code that the
// few operations do not reach is not judged.
package taint

import (
	"fmt"
	"slices"
	"strings"

	"sealab/internal/runfile"
	"sealab/internal/verdict"
)

// A Finding is one line of code that depends on a secret.
type Finding struct {
	Kind     runfile.Dependence `json:"kind"`
	Secret   runfile.Secret     `json:"secret"`
	Ops      []string           `json:"operations"`
	Function string             `json:"function"`
	File     string             `json:"file"`
	Line     int                `json:"line"`
	Text     string             `json:"text"`
	Caller   string             `json:"caller,omitempty"` // innermost function of this module
	// Reason says why the finding is declassified. It is empty if the finding counts.
	Reason string `json:"reason,omitempty"`
}

// String returns the finding as one line.
func (f Finding) String() string {
	return fmt.Sprintf("%s on the %s, in %s: %s:%d: %s: %s",
		nouns[f.Kind], f.Secret, strings.Join(f.Ops, " and "), f.File, f.Line, f.Function, f.Text)
}

// nouns are the names of the kinds. A division may or may not depend on a secret.
var nouns = map[runfile.Dependence]string{
	runfile.Branch: "branch", runfile.Address: "address", runfile.Division: "division, maybe",
}

// A Result is the outcome of one subject.
type Result struct {
	Subject string              `json:"subject"`
	Expect  runfile.Expectation `json:"expect,omitempty"`
	Outcome verdict.Outcome     `json:"verdict"` // on the claim that refusing a token depends on no secret
	Why     string              `json:"why"`
	// Against are the findings within a refusal, Observed those elsewhere, and Declassified those with a
	// reason.
	Against      []Finding `json:"against,omitempty"`
	Observed     []Finding `json:"observed,omitempty"`
	Declassified []Finding `json:"declassified,omitempty"`
}

// A Judgement is the outcome of a run.
type Judgement struct {
	Stamp    map[string]string `json:"stamp"`
	Verdicts []*Result         `json:"verdicts"`
	// Faults are the controls with an unexpected outcome. If there are any, the run is void.
	Faults []string `json:"faults,omitempty"`
	// Unused are the reasons that no report needed.
	Unused []string `json:"unused_reasons,omitempty"`
}

// Judge judges the logs of one run.
func Judge(logs []*runfile.Log) *Judgement {
	j := &Judgement{Stamp: logs[0].Stamp}
	used := map[int]bool{}
	controls := 0
	for _, subject := range bySubject(logs) {
		v := judge(subject, used)
		j.Verdicts = append(j.Verdicts, v)
		if v.Expect == runfile.Open {
			continue
		}
		controls++
		if fault := controlFault(subject[0], v); fault != "" {
			j.Faults = append(j.Faults, fault)
		}
	}
	if controls == 0 {
		j.Faults = append(j.Faults, "there is no control")
	}
	for i, r := range declassified {
		if !used[i] {
			j.Unused = append(j.Unused, r.reason)
		}
	}
	return j
}

// bySubject groups the logs by subject and keeps their order.
func bySubject(logs []*runfile.Log) [][]*runfile.Log {
	var groups [][]*runfile.Log
	for _, l := range logs {
		i := slices.IndexFunc(groups, func(group []*runfile.Log) bool { return group[0].Subject == l.Subject })
		if i < 0 {
			groups = append(groups, []*runfile.Log{l})
			continue
		}
		groups[i] = append(groups[i], l)
	}
	return groups
}

// judge judges the logs of one subject and marks the rows that it used.
func judge(logs []*runfile.Log, used map[int]bool) *Result {
	v := &Result{Subject: logs[0].Subject, Expect: logs[0].Expect}
	noise := map[string]bool{}
	secrets := 0
	for _, l := range logs {
		switch {
		case l.Failed != "":
			v.Outcome, v.Why = verdict.NotTested, l.Failed
			return v
		case l.Secret == runfile.None:
			for _, r := range l.Reports {
				noise[signature(r)] = true
			}
		default:
			secrets++
		}
	}
	if secrets == 0 || len(logs) == secrets {
		v.Outcome, v.Why = verdict.NotTested, "want runs with a secret and one without"
		return v
	}
	for _, l := range logs {
		for _, f := range linesOf(l, noise, used) {
			v.take(f)
		}
	}
	v.conclude()
	return v
}

// signature returns text that is equal for the same noise in another run: the kind and the innermost
// lines.
func signature(r runfile.Report) string {
	const lines = 3
	var s strings.Builder
	s.WriteString(string(r.Kind))
	for _, f := range r.Stack[:min(lines, len(r.Stack))] {
		fmt.Fprintf(&s, " %s:%d", f.Function, f.Line)
	}
	return s.String()
}

// take adds a finding to the list where it belongs.
func (v *Result) take(f Finding) {
	switch {
	case f.Reason != "":
		v.Declassified = append(v.Declassified, f)
	case v.Expect == runfile.Open && f.Kind != runfile.Division && slices.Contains(f.Ops, "refuse"):
		v.Against = append(v.Against, f)
	default:
		v.Observed = append(v.Observed, f)
	}
}

func (v *Result) conclude() {
	v.Outcome = verdict.NotRefuted
	if len(v.Against) > 0 {
		v.Outcome = verdict.Refuted
	}
	v.Why = fmt.Sprintf("%d lines against, %d observed, %d declassified", len(v.Against), len(v.Observed), len(v.Declassified))
}

// controlFault returns the fault of a control, or "" if its outcome is as expected.
func controlFault(l *runfile.Log, v *Result) string {
	found := slices.ContainsFunc(v.Observed, func(f Finding) bool {
		return l.Line != "" && strings.Contains(f.Text, l.Line)
	})
	switch {
	case v.Outcome == verdict.NotTested:
		return fmt.Sprintf("%s: %s", v.Subject, v.Why)
	case l.Expect == runfile.Leaks && !found:
		return fmt.Sprintf("%s leaks in the line %q, which was not found", v.Subject, l.Line)
	case l.Expect == runfile.Clean && len(v.Observed) > 0:
		return fmt.Sprintf("%s does not leak and was accused: %v", v.Subject, v.Observed[0])
	}
	return ""
}

// linesOf returns the lines that depend on the log's secret, without duplicates and noise. It marks in
// used the rows that declassify one.
func linesOf(l *runfile.Log, noise map[string]bool, used map[int]bool) []Finding {
	var all []Finding
	for _, r := range l.Reports {
		if l.Secret == runfile.None || noise[signature(r)] || len(r.Stack) == 0 {
			continue
		}
		f := finding(l.Secret, r)
		if row := rowFor(r); row >= 0 {
			used[row] = true
			f.Reason = declassified[row].reason
		}
		i := slices.IndexFunc(all, func(g Finding) bool { return g.place() == f.place() })
		if i < 0 {
			all = append(all, f)
			continue
		}
		if !slices.Contains(all[i].Ops, r.Op) {
			all[i].Ops = append(all[i].Ops, r.Op)
		}
	}
	return all
}

func finding(secret runfile.Secret, r runfile.Report) Finding {
	at := r.Stack[0]
	f := Finding{
		Kind: r.Kind, Secret: secret, Ops: []string{r.Op},
		Function: at.Function, File: at.File, Line: at.Line, Text: at.Text,
	}
	for _, frame := range r.Stack {
		if strings.HasPrefix(frame.Function, "sealab/") {
			f.Caller = frame.Function
			break
		}
	}
	return f
}

// A place identifies a finding: reports with the same place are one finding.
type place struct {
	kind                     runfile.Dependence
	function, caller, reason string
	line                     int
}

func (f Finding) place() place { return place{f.Kind, f.Function, f.Caller, f.Reason, f.Line} }
