package timing

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"sealab/internal/runfile"
	"sealab/internal/verdict"
)

// Controls holds the outcomes of the controls of a run. If one of them is unexpected, the run is void.
type Controls struct {
	Leaking int `json:"leaking"` // controls that leak
	Found   int `json:"found"`   // how many of them were found
	// TooSmall lists controls that leak less than the minimum detectable effect. They may be missed.
	TooSmall []string `json:"too_small,omitempty"`
	Clean    int      `json:"clean"` // controls that do not leak
	// Faults are the reasons why the run is void.
	Faults []string `json:"faults,omitempty"`
	// FoundFrom is the smallest step of the ladder, in nanoseconds, such that it and all larger steps were
	// found. It is 0 if the largest was not found.
	FoundFrom float64 `json:"found_from_ns"`
	// Uniform is the test of the p-values of all clean controls for uniformity.
	Uniform Uniformity `json:"uniform"`
}

// Void reports whether the run is void.
func (c Controls) Void() bool { return len(c.Faults) > 0 }

func (j *Judgement) checkControls() {
	c := Controls{}
	var clean []*Result
	for _, v := range j.Verdicts {
		switch v.Expect {
		case runfile.Leaks:
			c.leaking(v)
		case runfile.Clean:
			clean = append(clean, v)
			c.clean(v)
		}
	}
	if c.Leaking == 0 && c.Clean == 0 {
		c.fault("there is no control")
	}
	if largest := DetectableAtMost * j.Limit; j.Shift.Detectable > largest {
		c.fault("the minimum detectable effect of the run is %.3g ns, want at most %g ns: needs a quieter machine", j.Shift.Detectable, largest)
	}
	c.FoundFrom = foundFrom(j.Verdicts)
	c.Uniform = testUniformity(clean)
	j.Controls = c
}

func (c *Controls) fault(format string, args ...any) {
	c.Faults = append(c.Faults, fmt.Sprintf(format, args...))
}

// leaking requires that every leak is found, except a delay below the minimum detectable effect. It also
// requires that every delay has its size: a residual beyond the floor means that shifts are larger than
// estimated.
func (c *Controls) leaking(v *Result) {
	c.Leaking++
	if v.Found {
		c.Found++
	}
	switch {
	case v.Added > 0 && v.Added < v.Detectable:
		c.TooSmall = append(c.TooSmall, v.Subject)
	case !v.Found:
		c.fault("%s leaks and was not found", v.Name())
	}
	if v.Added == 0 {
		return
	}
	// The clock rate may change between calibration and pass.
	tolerance := max(v.Limit, v.Added/4)
	for _, s := range v.passes() {
		if s.Trimmed.Low > v.Added+tolerance || s.Trimmed.High < v.Added-tolerance {
			c.fault("%s adds %.3g ns and showed %+.3g ns in pass %d", v.Name(), v.Added, s.Trimmed.Value, s.Pass)
		}
	}
}

func (c *Controls) clean(v *Result) {
	c.Clean++
	if v.Outcome == verdict.Refuted {
		c.fault("%s does not leak and was taken for a leak", v.Name())
	}
}

// foundFrom returns the smallest calibrated step such that it and all larger steps were found.
func foundFrom(verdicts []*Result) float64 {
	var ladder []*Result
	for _, v := range verdicts {
		if v.Added > 0 {
			ladder = append(ladder, v)
		}
	}
	slices.SortFunc(ladder, func(v, w *Result) int { return cmp.Compare(w.Added, v.Added) })
	from := 0.0
	for _, v := range ladder {
		if !v.Found {
			break
		}
		from = v.Added
	}
	return from
}

// uniformFrom is the smallest number of p-values that is tested for uniformity.
const uniformFrom = 20

// Uniformity is the Kolmogorov-Smirnov test for uniform p-values. They are uniform if there is no leak.
type Uniformity struct {
	Values   int     `json:"values"`
	Distance float64 `json:"distance"` // largest distance between the distributions
	P        float64 `json:"p"`        // 1 if there are too few values to test
	Refuted  int     `json:"refuted"`  // number of clean controls that were wrongly refuted
}

// testUniformity tests the Wilcoxon p-values of controls that do not leak.
func testUniformity(clean []*Result) Uniformity {
	u := Uniformity{P: 1}
	var p []float64
	for _, v := range clean {
		p = append(p, v.First.PWilcoxon)
		if v.Outcome == verdict.Refuted {
			u.Refuted++
		}
	}
	u.Values = len(p)
	if len(p) < uniformFrom {
		return u
	}
	u.Distance = uniformDistance(p)
	u.P = kolmogorovP(u.Distance, len(p))
	return u
}

// uniformDistance returns the Kolmogorov-Smirnov distance between p and the
// uniform distribution on [0,1].
func uniformDistance(p []float64) float64 {
	n, distance := float64(len(p)), 0.0
	for i, v := range slices.Sorted(slices.Values(p)) {
		distance = max(distance, float64(i+1)/n-v, v-float64(i)/n)
	}
	return distance
}

// kolmogorovP returns the probability of at least that distance, by Kolmogorov's
// series with Stephens' correction for finite n (Stephens, EDF Statistics,
// 1974, table 1A).
func kolmogorovP(distance float64, n int) float64 {
	root := math.Sqrt(float64(n))
	x := (root + 0.12 + 0.11/root) * distance
	if x < 0.2 {
		return 1 // the series does not converge there
	}
	sum, sign := 0.0, 1.0
	for k := 1.0; k <= 100; k++ {
		sum += sign * math.Exp(-2*k*k*x*x)
		sign = -sign
	}
	return max(0, min(1, 2*sum))
}
