package main

import (
	"fmt"
	"io"
	"strings"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/internal/verdict"
)

// rehearse reports whether a worker seals and opens an ordinary token, and says
// why not: no attack finds much in one that does not. Designs in this process do.
func (f *attackFlags) rehearse(s *attack.Subject, notes io.Writer) bool {
	if s.Worker == nil {
		return true
	}
	err := attack.Rehearse(s)
	if err == nil {
		return true
	}
	explain(notes, err)
	f.unfit = append(f.unfit, s.Name+" came to no token of its own")
	return false
}

// tellFaults says what a worker wrote to its standard error when it broke for the
// first time, where that is a finding.
func (f *attackFlags) tellFaults(notes io.Writer, s *attack.Subject, outcome verdict.Subject) {
	if s.Broken() {
		f.unfit = append(f.unfit, s.Name+" broke time and again")
	}
	if s.LastWords == nil || !fell(outcome, codecs.Total) {
		return
	}
	if err := s.LastWords(); err != nil {
		explain(notes, err)
	}
}

func fell(outcome verdict.Subject, p codecs.Property) bool {
	for _, c := range outcome.Cells {
		if c.Property == p && c.Verdict == verdict.Refuted {
			return true
		}
	}
	return false
}

// requireFit returns an error if the outcome of a worker is not reliable: it did
// not open a token of its own, broke too often, or broke the protocol.
func (f *attackFlags) requireFit() error {
	for _, d := range f.targets.dialed {
		if err := d.breach(); err != nil {
			return err
		}
	}
	if len(f.unfit) == 0 {
		return nil
	}
	return fmt.Errorf("%s: what stands of it says little", strings.Join(f.unfit, "; "))
}
