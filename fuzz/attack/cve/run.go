package cve

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"sealab/codecs/worker"
	"sealab/fuzz/attack"
	"sealab/internal/table"
	"sealab/internal/verdict"
)

// An Outcome is the result of attacking both versions of a case.
type Outcome struct {
	Case
	// Found are the attacks that refute the property of the vulnerable version but not of the
	// fixed one.
	Found   []string
	Issue   string  // of the first attack in Found
	Seconds float64 // until the first attack in Found ended
	// Issues holds the findings of the attacks in Both and Fixed on the fixed version.
	Issues map[string]string `json:",omitempty"`
	// Both are the attacks that refute the property of both versions, which shows other
	// weaknesses.
	Both   []string
	Fixed  []string // attacks that refute the property of the fixed version only
	Tested int      // number of attacks run on the vulnerable version
	// Incomplete are the attacks that were cut short or left out for lack of time.
	Incomplete []string
}

// A Bench attacks cases.
type Bench struct {
	Root    string // path of the module root
	Attacks []attack.Attack
	Seed    uint64
	Budget  time.Duration // for each version
	Now     func() time.Time
	// Class runs only the attack for the class of the fault.
	Class bool
}

// Attack attacks both versions of a case with all attacks on the property.
func (b Bench) Attack(c Case) (Outcome, error) {
	o := Outcome{Case: c}
	old, err := b.version(c, c.Vulnerable)
	if err != nil {
		return o, err
	}
	o.Tested, o.Incomplete = old.tested, old.incomplete
	fixed := refuted{}
	if c.Fixed != "" {
		if fixed, err = b.version(c, c.Fixed); err != nil {
			return o, err
		}
		o.Incomplete = append(o.Incomplete, fixed.incomplete...)
		o.Issues = fixed.issues
	}
	for _, a := range old.by {
		if slices.Contains(fixed.by, a) {
			o.Both = append(o.Both, a)
			continue
		}
		if len(o.Found) == 0 {
			o.Issue, o.Seconds = old.issues[a], old.after[a].Seconds()
		}
		o.Found = append(o.Found, a)
	}
	for _, a := range fixed.by {
		if !slices.Contains(old.by, a) {
			o.Fixed = append(o.Fixed, a)
		}
	}
	return o, nil
}

// refuted holds the attacks that refute the property of one version, in order.
type refuted struct {
	by         []string
	issues     map[string]string
	after      map[string]time.Duration
	tested     int
	incomplete []string
}

// version attacks one version.
func (b Bench) version(c Case, version string) (refuted, error) {
	r := refuted{issues: map[string]string{}, after: map[string]time.Duration{}}
	design, end, err := attack.Dial([]string{c.Library, version, c.Row}, func(l worker.Limits) (*worker.Client, error) { return c.dial(b.Root, version, l) })
	if err != nil {
		return r, fmt.Errorf("%s %s: %w", c.Library, version, err)
	}
	defer end() //nolint:errcheck // every answer has been read
	if got := strings.TrimPrefix(design.Spec, design.Name+" "); !strings.Contains(got, version) {
		return r, fmt.Errorf("%s %s: the worker states %q", c.Library, version, got)
	}
	if err := attack.Check(design); err != nil {
		return r, fmt.Errorf("%s %s does not open a token of its own: %w", c.Library, version, err)
	}
	began := b.Now()
	passed := func() time.Duration { return b.Now().Sub(began) }
	budget := attack.Budget{Seals: 1 << 11, Unseals: 1 << 12, Bytes: 1 << 22, Stopwatch: passed}
	budget.Spent, budget.Overdue = attack.Within(passed, b.Budget), attack.Within(passed, b.Budget+b.Budget/4)
	runner := attack.Runner{Seed: b.Seed, Budget: budget, Done: func(id string, results []verdict.Result, _ int) {
		r.keep(c, id, results, passed())
	}}
	for _, a := range b.Attacks {
		switch {
		case a.Run == nil || !a.Aims(c.Property) || a.Last:
		case a.ID == c.Attack: // first, because the time may not suffice for the others
			runner.Attacks = slices.Insert(runner.Attacks, 0, a)
		case !b.Class:
			runner.Attacks = append(runner.Attacks, a)
		}
	}
	runner.Attack(design)
	return r, nil
}

// keep records the outcome of one attack.
func (r *refuted) keep(c Case, id string, results []verdict.Result, after time.Duration) {
	for _, result := range results {
		switch {
		case result.Property != c.Property:
		case result.Incomplete:
			r.incomplete = append(r.incomplete, id)
		case result.Outcome == verdict.Refuted:
			r.by, r.issues[id], r.after[id] = append(r.by, id), result.Issue, after
			r.tested++
		case result.Outcome == verdict.NotRefuted:
			r.tested++
		}
	}
}

// Rediscovered reports whether the vulnerability was found in the vulnerable version only.
func (o Outcome) Rediscovered() bool { return len(o.Found) > 0 && len(o.Fixed) == 0 }

// An Untested is a case that could not be attacked, with the reason.
type Untested struct{ CVE, Library, Reason string }

// Write writes the outcomes as a page, including the vulnerabilities that were not tested and
// those that are out of scope.
func Write(w io.Writer, all []Outcome, untested []Untested) error {
	t := table.New("lllllll")
	t.Row("library", "vulnerable", "fixed", "CVE", "property", "found by", "fixed version")
	found := 0
	for _, o := range all {
		by := "not found"
		if len(o.Found) > 0 {
			found++
			by = fmt.Sprintf("%s in %.1f s", strings.Join(o.Found, ", "), o.Seconds)
		}
		t.Row(o.Ecosystem+" "+o.Library, o.Vulnerable, cmp.Or(o.Case.Fixed, "none"), o.CVE, string(o.Property), by, o.fixedText())
	}
	if _, err := fmt.Fprintf(w, "%s\n%d of %d vulnerabilities found.\n", t.Text(0), found, len(all)); err != nil {
		return err
	}
	for _, o := range all {
		if len(o.Incomplete) > 0 {
			fmt.Fprintf(w, "%s %s: not tested within the time: %s\n", o.Library, o.Vulnerable, strings.Join(o.Incomplete, ", "))
		}
	}
	for _, u := range untested {
		fmt.Fprintf(w, "not tested: %s, %s: %s\n", u.CVE, u.Library, u.Reason)
	}
	for _, o := range all {
		for _, a := range slices.Sorted(maps.Keys(o.Issues)) {
			fmt.Fprintf(w, "%s %s: %s: %s\n", o.Library, o.Case.Fixed, a, o.Issues[a])
		}
		if o.Note != "" {
			fmt.Fprintf(w, "%s %s: %s\n", o.Library, o.Vulnerable, o.Note)
		}
	}
	fmt.Fprintln(w, "\nOut of scope:")
	for _, e := range OutOfScope() {
		if _, err := fmt.Fprintf(w, "%s, %s: %s\n", e.CVE, e.Library, e.Reason); err != nil {
			return err
		}
	}
	return nil
}

// fixedText describes the outcome of the fixed version.
func (o Outcome) fixedText() string {
	switch {
	case o.Case.Fixed == "":
		return "no fixed version"
	case len(o.Fixed) > 0:
		return "falls by " + strings.Join(o.Fixed, ", ")
	case len(o.Both) > 0:
		return "falls like the other one by " + strings.Join(o.Both, ", ")
	}
	return "stands"
}
