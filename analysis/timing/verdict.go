package timing

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"sealab/internal/runfile"
	"sealab/internal/verdict"
)

// A Result is the outcome of one probe.
type Result struct {
	runfile.Probe
	// Outcome is the outcome for the claim that the two classes take the same time. It is refuted if a
	// difference is significant, confirmed by a second independent run, and larger than Limit in both. It
	// is not refuted if no significant difference exceeds Limit, the interval lies within Detectable, and
	// Detectable is at most [DetectableAtMost] limits. Otherwise it is not tested.
	Outcome verdict.Outcome `json:"verdict"`
	Why     string          `json:"why"`
	Limit   float64         `json:"limit_ns"` // of the run, or the floor of its shift if that is larger
	// Detectable is the smallest leak that both passes show with a power of 0.9.
	Detectable float64 `json:"detectable_ns"`
	PSign      float64 `json:"p_sign"` // first pass; these three are corrected for the number of tests in the run
	PRank      float64 `json:"p_wilcoxon"`
	PTail      float64 `json:"p_deciles"`
	Found      bool    `json:"found"` // significant, and confirmed by the second pass, of any size
	First      *Statistics
	Second     *Statistics `json:",omitempty"`
}

// effectPair is a difference that a test found significant in the first pass, with the same quantity in
// the second pass.
type effectPair struct {
	name          string
	first, second Estimate
}

// maxPassRatio is the largest ratio between the effects of two passes that measured the same leak. On a
// quiet machine, effects of leaking controls differed by a factor of up to 2.65: an allocation took 25.6
// ns more in one pass and 9.7 ns in the other. That is many times the intervals, so intervals alone cannot
// decide.
const maxPassRatio = 3

// confirmed reports whether the second pass shows the effect with the same sign, an interval that excludes
// zero, and the same size.
//
// The addresses of objects, the state of caches and predictors and the clock rate shift a whole pass. Two
// passes are therefore only two independent values, whatever the number of blocks. Shifts alone agree in
// sign in half of all pairs of passes. They agree in sign and size in three of ten, because the ratio of
// two normal values has a Cauchy distribution: (atan 3 - atan 1/3) / pi.
func (e effectPair) confirmed() bool {
	first, second := e.first, e.second
	if first.Value < 0 {
		first, second = first.negated(), second.negated()
	}
	return second.Low > 0 && first.High*maxPassRatio >= second.Low && second.High*maxPassRatio >= first.Low
}

// exceeds reports whether the effect exceeds the limit in both passes.
func (e effectPair) exceeds(limit float64) bool {
	return min(math.Abs(e.first.Value), math.Abs(e.second.Value)) > limit
}

func (e effectPair) String() string {
	return fmt.Sprintf("%s: %+.3g ns, then %+.3g ns in the second run", e.name, e.first.Value, e.second.Value)
}

// judge sets the outcome and the reason from the numbers.
func (v *Result) judge(j *Judgement) {
	v.Limit, v.Detectable, v.Found = j.Shift.Floor, j.detectable(v), false
	if v.Expect == runfile.Clean {
		v.Limit = j.Limit // both classes run the same instructions and do not shift
	}
	largest := DetectableAtMost * j.Limit
	effects := v.significant()
	var found effectPair
	for _, e := range effects {
		if !e.confirmed() {
			continue
		}
		if !v.Found {
			v.Found, found = true, e
		}
		if e.exceeds(v.Limit) {
			v.Outcome, v.Why = verdict.Refuted, e.String()
			return
		}
	}
	first := v.First
	switch {
	case v.Detectable <= largest && first.Trimmed.within(v.Detectable) && !anyBeyond(effects, v.Limit):
		v.Outcome, v.Why = verdict.NotRefuted, fmt.Sprintf("no difference above %.2g ns was found", v.Detectable)
	case len(effects) > 0 && v.Second == nil:
		v.Outcome, v.Why = verdict.NotTested, "significant in one run: needs a second one"
	case v.Found:
		v.Outcome, v.Why = verdict.NotTested, fmt.Sprintf("%s: too near the limit of %.2g ns: needs about %d blocks", found, v.Limit, 4*first.Blocks)
	case len(effects) > 0:
		v.Outcome, v.Why = verdict.NotTested, fmt.Sprintf("%s: the runs disagree: needs a quieter machine", effects[0])
	default:
		v.Outcome, v.Why = verdict.NotTested, v.wanting(largest, j.Shift.Detectable)
	}
}

// significant returns the effects that tests of the first pass found.
func (v *Result) significant() []effectPair {
	second := v.Second
	if second == nil {
		second = &Statistics{Deciles: Deciles{Difference: make(Estimates, len(decileShares))}}
	}
	var found []effectPair
	if min(v.PSign, v.PRank) < familyAlpha {
		found = append(found, effectPair{"trimmed mean", v.First.Trimmed, second.Trimmed},
			effectPair{"median", v.First.Median, second.Median})
	}
	if v.PTail < familyAlpha {
		k := v.First.Deciles.Largest
		name := fmt.Sprintf("%.0f %% decile", 100*decileShares[k])
		found = append(found, effectPair{name, v.First.Deciles.Difference[k], second.Deciles.Difference[k]})
	}
	return found
}

func anyBeyond(effects []effectPair, limit float64) bool {
	return slices.ContainsFunc(effects, func(e effectPair) bool { return math.Abs(e.first.Value) > limit })
}

// wanting describes how many blocks would be needed to detect the largest acceptable effect. More blocks
// do not help if the pair already detects about as much as shifted, the minimum detectable effect that the
// shift allows.
func (v *Result) wanting(largest, shifted float64) string {
	s := v.First
	if v.Detectable <= largest {
		return fmt.Sprintf("the interval crosses %.2g ns: needs about %d blocks", v.Detectable, 4*s.Blocks)
	}
	if v.Detectable < 1.1*shifted {
		return fmt.Sprintf("could have found %.2g ns, want at most %g ns: passes shift too far: needs a quieter machine", v.Detectable, largest)
	}
	need := float64(s.Blocks) * math.Pow(v.Detectable/largest, 2)
	return fmt.Sprintf("could have found %.2g ns, want at most %g ns: needs about %.1g blocks", v.Detectable, largest, need)
}

// signTest returns the two-sided p-value of the sign test: the probability that fair coins fall at least
// as unevenly as the signs of d. It ignores zeros.
func signTest(d []float64) float64 {
	positive, negative := 0, 0
	for _, v := range d {
		switch {
		case v > 0:
			positive++
		case v < 0:
			negative++
		}
	}
	if positive+negative == 0 {
		return 1
	}
	coins := distuv.Binomial{N: float64(positive + negative), P: 0.5}
	return min(1, 2*coins.CDF(float64(min(positive, negative))))
}

// wilcoxonP returns the two-sided p-value of the Wilcoxon signed-rank test in its normal approximation
// with correction for ties. It ignores zeros.
func wilcoxonP(d []float64) float64 {
	x := slices.DeleteFunc(slices.Clone(d), func(v float64) bool { return v == 0 })
	slices.SortFunc(x, func(v, w float64) int { return cmp.Compare(math.Abs(v), math.Abs(w)) })
	n := float64(len(x))
	positive, ties := 0.0, 0.0
	for start := 0; start < len(x); {
		end := start + 1
		for end < len(x) && math.Abs(x[end]) == math.Abs(x[start]) {
			end++
		}
		rank := float64(start+end+1) / 2
		for _, v := range x[start:end] {
			if v > 0 {
				positive += rank
			}
		}
		t := float64(end - start)
		ties += t * (t*t - 1)
		start = end
	}
	variance := n*(n+1)*(2*n+1)/24 - ties/48
	if variance <= 0 {
		return 1
	}
	return twoSided((positive - n*(n+1)/4) / math.Sqrt(variance))
}

// twoSided returns the probability that a standard normal variable is at least
// as far from zero as z.
func twoSided(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }

// croppedTests is the number of cropped tests that dudect makes.
const croppedTests = 100

// dudectT returns the largest |t| of dudect's 102 tests: Welch's t-test on the raw times, on the times
// below each of 100 percentiles, and on the squared distances from the overall mean. dudect reports a leak
// from 4.5 or 10 on. Here the value is printed for comparison and does not affect the outcome.
func dudectT(a, b []float64) float64 {
	pooled := slices.Sorted(slices.Values(slices.Concat(a, b)))
	largest := math.Abs(welchT(a, b))
	sortedA, sortedB := sortedMoments(a), sortedMoments(b)
	for i := range croppedTests {
		// dudect crops more finely at long times.
		share := 1 - math.Pow(0.5, 10*float64(i+1)/croppedTests)
		limit := pooled[min(len(pooled)-1, int(share*float64(len(pooled))))]
		t := welchOf(sortedA.below(limit), sortedB.below(limit))
		largest = max(largest, math.Abs(t))
	}
	center := momentsOf(pooled).mean()
	return max(largest, math.Abs(welchT(squaredDeviations(a, center), squaredDeviations(b, center))))
}

// moments are a sample's size, sum and sum of squares.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(v float64) { m.n++; m.sum += v; m.squares += v * v }

func (m moments) mean() float64 { return m.sum / m.n }

func (m moments) variance() float64 { return max(0, (m.squares-m.sum*m.sum/m.n)/(m.n-1)) }

func momentsOf(x []float64) (m moments) {
	for _, v := range x {
		m.add(v)
	}
	return m
}

func welchT(a, b []float64) float64 { return welchOf(momentsOf(a), momentsOf(b)) }

// welchOf returns Welch's t, or 0 if a class has fewer than two values or there is no variance.
func welchOf(a, b moments) float64 {
	if a.n < 2 || b.n < 2 {
		return 0
	}
	spread := a.variance()/a.n + b.variance()/b.n
	if spread == 0 {
		return 0
	}
	return (b.mean() - a.mean()) / math.Sqrt(spread)
}

// sortedPrefixes holds sorted values, and the moments of each prefix.
type sortedPrefixes struct {
	value []float64
	until []moments
}

func sortedMoments(x []float64) sortedPrefixes {
	c := sortedPrefixes{slices.Sorted(slices.Values(x)), make([]moments, len(x)+1)}
	for i, v := range c.value {
		c.until[i+1] = c.until[i]
		c.until[i+1].add(v)
	}
	return c
}

// below returns the moments of the values below limit.
func (c sortedPrefixes) below(limit float64) moments {
	n, _ := slices.BinarySearch(c.value, limit)
	return c.until[n]
}

func squaredDeviations(x []float64, center float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = (v - center) * (v - center)
	}
	return y
}
