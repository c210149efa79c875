package timing

import (
	"fmt"
	"math"

	"sealab/internal/runfile"
	"sealab/internal/verdict"
)

// A Result is the outcome of one probe.
type Result struct {
	runfile.Probe
	// Outcome is about the claim that two classes take the same time. It is
	// refuted if a difference is significant, larger than the limit, and the same
	// in a second independent run. It is not refuted if the interval lies inside
	// the limit and the minimum detectable effect is below the limit. Otherwise it
	// is not tested.
	Outcome verdict.Outcome `json:"verdict"`
	Why     string          `json:"why"`
	Limit   float64         `json:"limit_ns"`
	PSign   float64         `json:"p_sign"` // first pass; these three are corrected for the number of tests in the run
	PRank   float64         `json:"p_wilcoxon"`
	PTail   float64         `json:"p_deciles"`
	Found   bool            `json:"found"` // significant, and the same sign in the second pass, whatever its size
	First   *Statistics
	Second  *Statistics `json:",omitempty"`
}

// effect is a difference that one of the tests found significant in the first
// pass, with the same quantity in the second.
type effect struct {
	name          string
	first, second Estimate
}

// confirmed reports whether the second pass shows the effect with the same sign
// and an interval that leaves zero out.
func (e effect) confirmed() bool {
	return e.second.excludesZero() && math.Signbit(e.second.Value) == math.Signbit(e.first.Value)
}

// judge sets the verdict's words from its numbers.
func (v *Result) judge() {
	effects := v.significant()
	for _, e := range effects {
		if !e.confirmed() {
			continue
		}
		v.Found = true
		if math.Abs(e.first.Value) > v.Limit {
			v.Outcome = verdict.Refuted
			v.Why = fmt.Sprintf("%s: %+.3g ns, then %+.3g ns in the second run", e.name, e.first.Value, e.second.Value)
			return
		}
	}
	first := v.First
	switch {
	case first.Trimmed.within(v.Limit) && first.Detectable < v.Limit && !beyond(effects, v.Limit):
		v.Outcome, v.Why = verdict.NotRefuted, fmt.Sprintf("inside %g ns, and %.2g ns could have been found", v.Limit, first.Detectable)
	case len(effects) > 0 && v.Second == nil:
		v.Outcome, v.Why = verdict.NotTested, "significant in one run: needs a second one"
	case len(effects) > 0:
		v.Outcome, v.Why = verdict.NotTested, "significant in the first run and not the same in the second: needs a quieter machine"
	default:
		v.Outcome, v.Why = verdict.NotTested, v.wanting()
	}
}

// significant returns the effects that the first pass's tests found.
func (v *Result) significant() []effect {
	second := v.Second
	if second == nil {
		second = &Statistics{Deciles: Deciles{Difference: make([]Estimate, len(deciles))}}
	}
	var found []effect
	if min(v.PSign, v.PRank) < alpha {
		found = append(found, effect{"trimmed mean", v.First.Trimmed, second.Trimmed},
			effect{"median", v.First.Median, second.Median})
	}
	if v.PTail < alpha {
		k := v.First.Deciles.Largest
		name := fmt.Sprintf("%.0f %% decile", 100*deciles[k])
		found = append(found, effect{name, v.First.Deciles.Difference[k], second.Deciles.Difference[k]})
	}
	return found
}

func beyond(effects []effect, limit float64) bool {
	for _, e := range effects {
		if math.Abs(e.first.Value) > limit {
			return true
		}
	}
	return false
}

// wanting says how many blocks it would take to decide.
func (v *Result) wanting() string {
	s := v.First
	reach := max(s.Detectable, (s.Trimmed.High-s.Trimmed.Low)/2)
	if reach < v.Limit {
		return fmt.Sprintf("the interval crosses the limit of %g ns: needs about %d blocks", v.Limit, 4*s.Blocks)
	}
	need := float64(s.Blocks) * math.Pow(reach/v.Limit, 2)
	return fmt.Sprintf("could have found %.2g ns, the limit is %g ns: needs about %.1g blocks", s.Detectable, v.Limit, need)
}
