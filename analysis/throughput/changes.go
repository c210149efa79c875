package throughput

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// maxAlone is how many measurements that only one run has are listed by name.
const maxAlone = 10

// Report writes what changed, and what stands against its being compared.
func (c *Comparison) Report(w io.Writer) {
	var t table
	t.row("", "unit", "old", "±", "new", "±", "change", "")
	standing := 0
	for _, ch := range c.Changes {
		if !ch.Differs {
			standing++
			continue
		}
		t.row(ch.Name, ch.unitLabel(), ch.value(ch.Old.Center), ch.spread(ch.Old.PctRangeString()),
			ch.value(ch.New.Center), ch.spread(ch.New.PctRangeString()), ch.shareLabel(), ch.word())
	}
	if len(t) > 1 {
		t.write(w)
	}
	fmt.Fprintf(w, "noise floor %s: a subject against itself %s and %s, drift of the floors %s\n",
		percent(c.Noise), percent(c.OldNoise), percent(c.NewNoise), percent(c.Drift))
	if c.NewNoise > c.Noise {
		fmt.Fprintln(w, "warning: the newer run is noisier than that: measure it again where in doubt")
	}
	for _, part := range c.Unlike {
		fmt.Fprintf(w, "warning: the runs differ in %s: their times compare badly\n", part)
	}
	c.reportAlone(w)
	if blind := c.Blind(); blind > 0 {
		fmt.Fprintf(w, "unexercised: %d of %d measurements have too few rounds to tell any change\n", blind, len(c.Changes))
	}
	fmt.Fprintf(w, "%d measurements: %d standing, %d changed, %d regressed\n",
		len(c.Changes), standing, len(c.Changes)-standing, len(c.Regressed()))
}

func (c *Comparison) reportAlone(w io.Writer) {
	if len(c.Alone) == 0 {
		return
	}
	listed := c.Alone[:min(maxAlone, len(c.Alone))]
	fmt.Fprintf(w, "unexercised: %d measurements are in one run only: %s", len(c.Alone), strings.Join(listed, ", "))
	if len(listed) < len(c.Alone) {
		fmt.Fprint(w, " and others")
	}
	fmt.Fprintln(w)
}

func (ch Change) unitLabel() string { return strings.Replace(ch.Unit, "sec/op", "time", 1) }

func (ch Change) value(x float64) string {
	if ch.Unit == "sec/op" {
		return duration(x * 1e9)
	}
	return fmt.Sprintf("%.6g", x)
}

func (ch Change) spread(text string) string {
	if ch.exact {
		return ""
	}
	return text
}

func (ch Change) shareLabel() string {
	if share := ch.Share(); !math.IsNaN(share) && !math.IsInf(share, 0) {
		return fmt.Sprintf("%+.1f %%", share*100)
	}
	return "" // from nothing
}

// word says what a difference amounts to.
func (ch Change) word() string {
	switch {
	case ch.Regressed():
		return "regressed"
	case !ch.Beyond:
		return "within noise"
	case !ch.Ours:
		return "not ours"
	case ch.Worse:
		return "worse"
	}
	return "improved"
}
