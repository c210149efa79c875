package taint

import (
	"fmt"

	"sealab/analysis/findings"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/taintfile"
	"sealab/internal/verdict"
)

// Findings returns what stands in the judgement, in the form of the attacks'
// findings: one for what is against a design, one for what is observed. dir is
// the folder under which the logs will be found.
func (j *Judgement) Findings(dir string) ([]findings.Finding, error) {
	var all []findings.Finding
	for _, v := range j.Verdicts {
		if v.Expect != taintfile.Open {
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
