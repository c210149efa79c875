package timing

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"sealab/analysis/findings"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/runfile"
	"sealab/internal/table"
	"sealab/internal/verdict"
)

// WriteTable writes the judgement for a terminal of the given width: the controls,
// the designs, and the totals.
func (j *Judgement) WriteTable(w io.Writer, width int) error {
	var b strings.Builder
	t := table.New("llrrRrRRRRRl")
	t.Row("subject", "pair", "ns/op", "effect ns [95 %]", "largest decile ns", "MDE ns", "blocks", "p sign", "p rank", "p decile", "max |t|", "outcome")
	for _, control := range []bool{true, false} {
		for _, v := range j.Verdicts {
			if (v.Expect != runfile.Open) == control {
				t.Row(v.row()...)
			}
		}
	}
	b.WriteString(t.Text(width))
	j.Controls.write(&b)
	j.Shift.write(&b)
	j.summary(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// row returns the cells of the result's line.
func (v *Result) row() []string {
	s := v.First
	tail := s.Deciles.largest()
	return []string{
		v.Subject, v.Pair, fmt.Sprintf("%.4g", s.Typical),
		fmt.Sprintf("%+.2f [%+.2f %+.2f]", s.Trimmed.Value, s.Trimmed.Low, s.Trimmed.High),
		fmt.Sprintf("%+.2f at %.0f %%", tail.Value, 100*decileShares[s.Deciles.Largest]),
		fmt.Sprintf("%.2f", v.Detectable), fmt.Sprint(s.Blocks),
		formatP(v.PSign), formatP(v.PRank), formatP(v.PTail),
		fmt.Sprintf("%.1f", s.DudectT), v.Remark(),
	}
}

// Remark returns the outcome with its reason.
func (v *Result) Remark() string {
	switch {
	case v.Expect == runfile.Leaks && v.Found:
		return "found, as it must be"
	case v.Expect == runfile.Leaks && v.Added > 0 && v.Added < v.Detectable:
		return "not found, and below the minimum detectable effect"
	case v.Expect == runfile.Leaks:
		return "not found: " + v.Why
	case v.Expect == runfile.Clean && v.Outcome != verdict.Refuted:
		return "clean, as it must be"
	case v.Outcome == verdict.NotRefuted:
		return fmt.Sprintf("%s above %.2g ns", v.Outcome, v.Detectable)
	case v.Outcome == verdict.Refuted && v.Property == "" && v.Expect == runfile.Open:
		return fmt.Sprintf("observation: tells %s (%s)", v.Tells, v.Why)
	}
	return fmt.Sprintf("%s: %s", v.Outcome, v.Why)
}

// formatP formats a p-value in few characters.
func formatP(p float64) string {
	if p < 1e-99 {
		return "<1e-99"
	}
	return fmt.Sprintf("%.2g", p)
}

func (c Controls) write(w *strings.Builder) {
	fmt.Fprintf(w, "\ncontrols: %d of %d that leak found, %d that do not leak", c.Found, c.Leaking, c.Clean)
	if len(c.TooSmall) > 0 {
		fmt.Fprintf(w, "; not demanded, below the minimum detectable effect: %s", strings.Join(c.TooSmall, ", "))
	}
	if c.FoundFrom > 0 {
		fmt.Fprintf(w, "; every delay found from %.1f ns on", c.FoundFrom)
	}
	w.WriteString("\n")
	if u := c.Uniform; u.Values >= uniformFrom {
		fmt.Fprintf(w, "p-values of %d controls that do not leak: Kolmogorov-Smirnov distance %.3f from uniform, p = %.2g; %d taken for a leak\n",
			u.Values, u.Distance, u.P, u.Refuted)
	}
	for _, fault := range c.Faults {
		fmt.Fprintf(w, "void: %s\n", fault)
	}
}

func (s Shift) write(w *strings.Builder) {
	if s.Values == 0 {
		w.WriteString("shift between passes: not tested, no control of known size is small enough\n")
		return
	}
	fmt.Fprintf(w, "shift between passes: at most %.2g ns (standard deviation, %.0f %% confidence, %d residuals of the ladder); differences up to %.2g ns do not count, and a leak of %.2g ns is found\n",
		s.Sigma, 100*s.Confidence, s.Values, s.Floor, s.Detectable)
}

func (j *Judgement) summary(w *strings.Builder) {
	count := map[verdict.Outcome]int{}
	observations := 0
	for _, v := range j.Verdicts {
		switch {
		case v.Expect != runfile.Open:
		case v.Property == "" && v.Outcome == verdict.Refuted:
			observations++
		default:
			count[v.Outcome]++
		}
	}
	fmt.Fprintf(w, "designs, limit %g ns, %d p-values corrected together at %g: %d not refuted, %d refuted, %d not tested, %d observations\n",
		j.Limit, j.Tests, familyAlpha, count[verdict.NotRefuted], count[verdict.Refuted], count[verdict.NotTested], observations)
}

// Refuted returns the results that refute a guarantee.
func (j *Judgement) Refuted() []*Result {
	return slices.DeleteFunc(slices.Clone(j.Verdicts), func(v *Result) bool {
		return v.Expect != runfile.Open || v.Property == "" || v.Outcome != verdict.Refuted
	})
}

// Markdown returns the judgement as a page. It links to the pictures in the run's folder.
func (j *Judgement) Markdown() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Timing\n\nlimit %g ns; %s\n\n", j.Limit, stampLine(j.Stamp))
	b.WriteString("| subject | pair | ns/op | effect ns [95 %] | largest decile ns | MDE ns | blocks | p sign | p rank | p decile | max t | outcome |\n")
	b.WriteString("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n")
	for _, v := range j.Verdicts {
		cells := v.row()
		cells[1] = fmt.Sprintf("[%s](%s)", cells[1], v.Picture())
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	b.WriteString("\n```\n")
	j.Controls.write(&b)
	j.Shift.write(&b)
	j.summary(&b)
	b.WriteString("```\n")
	return []byte(b.String())
}

// stampLine formats the stamp in a fixed order.
func stampLine(stamp map[string]string) string {
	var parts []string
	for _, key := range []string{"commit", "dirty", "host", "toolchain", "goarch", "cpus", "blocks", "budget", "seed"} {
		if value, ok := stamp[key]; ok {
			parts = append(parts, key+" "+value)
		}
	}
	return strings.Join(parts, ", ")
}

// Findings returns the refuted guarantees and the observations as findings. dir is the folder of the
// samples.
func (j *Judgement) Findings(dir string) ([]findings.Finding, error) {
	var all []findings.Finding
	for _, v := range j.Verdicts {
		if v.Expect != runfile.Open || v.Outcome != verdict.Refuted {
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

func (v *Result) finding(d *codecs.Design, dir string) findings.Finding {
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

// evidence returns the numbers of both passes as text.
func (v *Result) evidence() string {
	text := fmt.Sprintf("%s; effect %+.3g ns [%+.3g, %+.3g] of %.0f ns in %d blocks, p = %s corrected for all tests of the run",
		v.Why, v.First.Trimmed.Value, v.First.Trimmed.Low, v.First.Trimmed.High, v.First.Typical, v.First.Blocks,
		formatP(min(v.PSign, v.PRank, v.PTail)))
	if v.Second != nil {
		text += fmt.Sprintf("; second run %+.3g ns [%+.3g, %+.3g]", v.Second.Trimmed.Value, v.Second.Trimmed.Low, v.Second.Trimmed.High)
	}
	return text
}

// reachable returns the most distant attacker who could measure a difference of this size.
func (v *Result) reachable() string {
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

// DocumentFormat names the JSON format of a judgement.
const DocumentFormat = "sealab-leak-judge/1"

// A Document is the JSON form of a judgement. Times are in nanoseconds per operation.
type Document struct {
	Format   string            `json:"format"`
	Run      string            `json:"run"` // its folder
	Stamp    map[string]string `json:"stamp"`
	Limit    float64           `json:"limit_ns"`
	Tests    int               `json:"tests"` // p-values corrected together
	Void     bool              `json:"void"`  // a control had an unexpected outcome
	Refuted  int               `json:"refuted"`
	Controls Controls          `json:"controls"`
	Shift    Shift             `json:"shift"`
	Pairs    []PairDocument    `json:"pairs"`
}

// A PairDocument is the JSON form of the result of one pair of classes.
type PairDocument struct {
	Subject    string              `json:"subject"`
	Pair       string              `json:"pair"`
	Expect     runfile.Expectation `json:"expect,omitempty"`   // if a control
	Property   string              `json:"property,omitempty"` // refuted by a difference; empty for an observation
	Outcome    verdict.Outcome     `json:"outcome"`
	Why        string              `json:"why"`
	Found      bool                `json:"found"` // significant, with the same sign in the second pass
	Typical    float64             `json:"typical_ns"`
	Effect     Estimate            `json:"effect"` // trimmed mean of B - A
	Detectable float64             `json:"detectable_ns"`
	Blocks     int                 `json:"blocks"`
	PSign      float64             `json:"p_sign"` // these three are corrected for the number of tests in the run
	PRank      float64             `json:"p_wilcoxon"`
	PTail      float64             `json:"p_deciles"`
}

// Document returns the JSON form of the judgement of the run in dir.
func (j *Judgement) Document(dir string) *Document {
	d := &Document{
		Format: DocumentFormat, Run: dir, Stamp: j.Stamp, Limit: j.Limit, Tests: j.Tests,
		Void: j.Controls.Void(), Refuted: len(j.Refuted()), Controls: j.Controls, Shift: j.Shift, Pairs: []PairDocument{},
	}
	for _, v := range j.Verdicts {
		s := v.First
		d.Pairs = append(d.Pairs, PairDocument{
			v.Subject, v.Pair, v.Expect, v.Property, v.Outcome, v.Why, v.Found,
			s.Typical, s.Trimmed, v.Detectable, s.Blocks, v.PSign, v.PRank, v.PTail,
		})
	}
	return d
}
