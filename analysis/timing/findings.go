package timing

import (
	"fmt"
	"math"

	"sealab/analysis/findings"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/samples"
	"sealab/internal/verdict"
)

// Findings returns what the judgement has against designs, in the form of the
// attacks' findings. dir is the folder under which the samples will be found.
func (j *Judgement) Findings(dir string) ([]findings.Finding, error) {
	var all []findings.Finding
	for _, v := range j.Verdicts {
		if v.Expect != samples.Open || v.Outcome != verdict.Refuted {
			continue
		}
		d, err := catalog.Find(v.Subject)
		if err != nil {
			return nil, err
		}
		all = append(all, v.finding(&d, dir))
	}
	return all, nil
}

func (v *Verdict) finding(d *codecs.Design, dir string) findings.Finding {
	attack := "timing:" + v.Pair
	f := findings.Finding{
		ID: findings.ID(d.Name, attack, codecs.SteadyTiming), Severity: findings.Warning, Category: codecs.SteadyTiming,
		Location:     findings.Location{Design: d.Name, Kind: d.Kind(), Attack: attack, Word: verdict.Stated},
		Issue:        fmt.Sprintf("%s and %s do not take the same time", v.A, v.B),
		Evidence:     v.evidence(),
		Impact:       fmt.Sprintf("the time tells %s, %s", v.Tells, v.reachable()),
		Fix:          findings.Repair(codecs.SteadyTiming),
		Verification: "sealab leak judge " + dir,
	}
	if v.Property == "" {
		f.Severity, f.Location.Word = findings.Suggestion, verdict.Silent
		f.Fix = "do the same work before every refusal, if this is to be kept from whoever presents tokens"
	}
	return f
}

// evidence writes the numbers of both passes.
func (v *Verdict) evidence() string {
	text := fmt.Sprintf("%s; effect %+.3g ns [%+.3g, %+.3g] of %.0f ns in %d blocks, p = %s corrected for all tests of the run",
		v.Why, v.First.Trimmed.Value, v.First.Trimmed.Low, v.First.Trimmed.High, v.First.Typical, v.First.Blocks,
		probability(min(v.PSign, v.PRank, v.PTail)))
	if v.Second != nil {
		text += fmt.Sprintf("; second run %+.3g ns [%+.3g, %+.3g]", v.Second.Trimmed.Value, v.Second.Trimmed.Low, v.Second.Trimmed.High)
	}
	return text
}

// reachable says from where a difference of that size can be measured.
func (v *Verdict) reachable() string {
	size := max(math.Abs(v.First.Trimmed.Value), math.Abs(v.First.Deciles.largest().Value))
	switch {
	case size >= LimitInternet:
		return "to anyone on the internet"
	case size >= LimitLocal:
		return "to anyone on the local network"
	default:
		return "to whoever measures on the same machine"
	}
}
