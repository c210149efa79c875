package main

import (
	"fmt"
	"io"
	"strings"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/internal/verdict"
)

// fit reports whether a worker seals and opens an ordinary token, and prints the reason
// if not: attacks find little in such a worker.
func (f *attackFlags) fit(d *attack.Design, notes io.Writer) bool {
	if d.Worker == nil {
		return true
	}
	err := attack.Check(d)
	if err == nil {
		return true
	}
	explain(notes, err)
	f.unfit = append(f.unfit, d.Name+" does not open an ordinary token of its own")
	return false
}

// tellFaults prints the text that a worker wrote to its standard error when it broke for
// the first time, if that is a finding.
func (f *attackFlags) tellFaults(notes io.Writer, d *attack.Design, outcome verdict.Design) {
	if d.Broken() {
		f.unfit = append(f.unfit, d.Name+" broke too often")
	}
	if d.LastWords == nil || !fell(outcome, codecs.Total) {
		return
	}
	if err := d.LastWords(); err != nil {
		explain(notes, err)
	}
}

func fell(outcome verdict.Design, p codecs.Property) bool {
	for _, c := range outcome.Results {
		if c.Property == p && c.Outcome == verdict.Refuted {
			return true
		}
	}
	return false
}

// requireFit returns an error if the outcome of a worker is not reliable: it did not open
// a token of its own, broke too often, or broke the protocol.
func (f *attackFlags) requireFit() error {
	for _, d := range f.targets.dialed {
		if err := d.breach(); err != nil {
			return err
		}
	}
	if len(f.unfit) == 0 {
		return nil
	}
	return fmt.Errorf("%s: its outcomes are not reliable", strings.Join(f.unfit, "; "))
}

// requireTested returns an error if attacks on a claimed property were left out.
func requireTested(run *verdict.Run) error {
	for _, s := range run.Designs {
		if untested := s.Untested(); len(untested) > 0 {
			t := untested[0]
			return fmt.Errorf("%s: %d claimed properties were not tested to the end, first %s: %d of %d attacks: %s",
				s.Name, len(untested), t.Property, t.Done, t.Of, t.Reason)
		}
	}
	return nil
}
