package taint

import (
	"slices"
	"strings"

	"sealab/internal/taintfile"
)

// linesOf returns the lines that depend on the log's secret, each once, without
// the noise. Rows of the table that declassify one are marked in used.
func linesOf(l *taintfile.Log, noise map[string]bool, used map[int]bool) []Finding {
	var all []Finding
	for _, r := range l.Reports {
		if l.Secret == taintfile.None || noise[signature(r)] || len(r.Stack) == 0 {
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

func finding(secret taintfile.Secret, r taintfile.Report) Finding {
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

// A place is what makes two reports the same finding.
type place struct {
	kind                     taintfile.Kind
	function, caller, reason string
	line                     int
}

func (f Finding) place() place { return place{f.Kind, f.Function, f.Caller, f.Reason, f.Line} }
