package timing

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"sealab/internal/samples"
	"sealab/internal/verdict"
)

// WriteTable writes the judgement for a terminal: the controls, the designs, and
// what it comes to.
func (j *Judgement) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "subject\tpair\tns/op\teffect ns [95 %%]\tlargest decile ns\tfindable ns\tblocks\tp sign\tp rank\tp decile\tmax |t|\tverdict\n")
	for _, control := range []bool{true, false} {
		for _, v := range j.Verdicts {
			if (v.Expect != samples.Open) == control {
				fmt.Fprintln(t, strings.Join(v.row(), "\t"))
			}
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	j.Controls.write(w)
	j.summary(w)
	return nil
}

// row returns the fields of the verdict's line.
func (v *Verdict) row() []string {
	s := v.First
	tail := s.Deciles.largest()
	return []string{
		v.Subject, v.Pair, fmt.Sprintf("%.4g", s.Typical),
		fmt.Sprintf("%+.2f [%+.2f %+.2f]", s.Trimmed.Value, s.Trimmed.Low, s.Trimmed.High),
		fmt.Sprintf("%+.2f at %.0f %%", tail.Value, 100*deciles[s.Deciles.Largest]),
		fmt.Sprintf("%.2f", s.Findable), fmt.Sprint(s.Blocks),
		probability(v.PSign), probability(v.PRank), probability(v.PTail),
		fmt.Sprintf("%.1f", s.DudectT), v.Remark(),
	}
}

// Remark is the verdict with what has to be said beside it.
func (v *Verdict) Remark() string {
	switch {
	case v.Expect == samples.Leaks && v.Found:
		return "found, as it must be"
	case v.Expect == samples.Leaks:
		return "not found: " + v.Why
	case v.Expect == samples.Clean && v.Outcome != verdict.Refuted:
		return "clean, as it must be"
	case v.Outcome == verdict.Refuted && v.Property == "" && v.Expect == samples.Open:
		return fmt.Sprintf("observation: tells %s (%s)", v.Tells, v.Why)
	case v.Outcome == verdict.Standing:
		return string(v.Outcome)
	}
	return fmt.Sprintf("%s: %s", v.Outcome, v.Why)
}

// probability writes a p-value in few characters.
func probability(p float64) string {
	if p < 1e-99 {
		return "<1e-99"
	}
	return fmt.Sprintf("%.2g", p)
}

func (c Controls) write(w io.Writer) {
	fmt.Fprintf(w, "\ncontrols: %d of %d that leak found, %d that do not leak", c.Found, c.Leaking, c.Clean)
	if len(c.TooSmall) > 0 {
		fmt.Fprintf(w, "; unexercised, below what the run could find: %s", strings.Join(c.TooSmall, ", "))
	}
	if c.FoundFrom > 0 {
		fmt.Fprintf(w, "; every delay found from %.1f ns on", c.FoundFrom)
	}
	fmt.Fprintln(w)
	if u := c.Uniform; u.Values >= uniformFrom {
		fmt.Fprintf(w, "p-values of %d controls that do not leak: Kolmogorov-Smirnov distance %.3f from uniform, p = %.2g; %d taken for a leak\n",
			u.Values, u.Distance, u.P, u.Refuted)
	}
	for _, fault := range c.Faults {
		fmt.Fprintf(w, "void: %s\n", fault)
	}
}

func (j *Judgement) summary(w io.Writer) {
	count := map[verdict.Verdict]int{}
	observations := 0
	for _, v := range j.Verdicts {
		switch {
		case v.Expect != samples.Open:
		case v.Property == "" && v.Outcome == verdict.Refuted:
			observations++
		default:
			count[v.Outcome]++
		}
	}
	fmt.Fprintf(w, "designs, limit %g ns, %d p-values corrected together at %g: %d standing, %d refuted, %d unexercised, %d observations\n",
		j.Limit, j.Tests, Alpha, count[verdict.Standing], count[verdict.Refuted], count[verdict.Unexercised], observations)
}

// Refuted returns the verdicts that go against a guarantee.
func (j *Judgement) Refuted() []*Verdict {
	var refuted []*Verdict
	for _, v := range j.Verdicts {
		if v.Expect == samples.Open && v.Property != "" && v.Outcome == verdict.Refuted {
			refuted = append(refuted, v)
		}
	}
	return refuted
}
