package timing

import (
	"sealab/internal/runfile"
	"sealab/internal/verdict"
)

// DocumentFormat names the JSON form of a judgement.
const DocumentFormat = "sealab-leak-judge/1"

// A Document is a judgement as JSON. Times are in nanoseconds per operation.
type Document struct {
	Format   string            `json:"format"`
	Run      string            `json:"run"` // its folder
	Stamp    map[string]string `json:"stamp"`
	Limit    float64           `json:"limit_ns"`
	Tests    int               `json:"tests"` // p-values corrected together
	Void     bool              `json:"void"`  // a control did not turn out as it must
	Refuted  int               `json:"refuted"`
	Controls Controls          `json:"controls"`
	Pairs    []PairDocument    `json:"pairs"`
}

// A PairDocument is the verdict on one pair of classes.
type PairDocument struct {
	Subject    string              `json:"subject"`
	Pair       string              `json:"pair"`
	Expect     runfile.Expectation `json:"expect,omitempty"`   // of a control
	Property   string              `json:"property,omitempty"` // that a difference refutes; empty: an observation
	Outcome    verdict.Outcome     `json:"outcome"`
	Why        string              `json:"why"`
	Found      bool                `json:"found"` // significant, and the same sign in the second pass
	Typical    float64             `json:"typical_ns"`
	Effect     Estimate            `json:"effect"` // trimmed mean of B - A
	Detectable float64             `json:"detectable_ns"`
	Blocks     int                 `json:"blocks"`
	PSign      float64             `json:"p_sign"` // these three are corrected for the number of tests in the run
	PRank      float64             `json:"p_wilcoxon"`
	PTail      float64             `json:"p_deciles"`
}

// Document returns the judgement of the run in dir as JSON.
func (j *Judgement) Document(dir string) *Document {
	d := &Document{
		Format: DocumentFormat, Run: dir, Stamp: j.Stamp, Limit: j.Limit, Tests: j.Tests,
		Void: j.Controls.Void(), Refuted: len(j.Refuted()), Controls: j.Controls, Pairs: []PairDocument{},
	}
	for _, v := range j.Verdicts {
		s := v.First
		d.Pairs = append(d.Pairs, PairDocument{
			v.Subject, v.Pair, v.Expect, v.Property, v.Outcome, v.Why, v.Found,
			s.Typical, s.Trimmed, s.Detectable, s.Blocks, v.PSign, v.PRank, v.PTail,
		})
	}
	return d
}
