package attack

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"sealab/cmd/sealab/internal/subject"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/sdk"
	"sealab/codecs/worker"
	"sealab/fuzz/attack"
	"sealab/internal/cli"
	"sealab/internal/golibs"
	"sealab/internal/table"
	"sealab/internal/verdict"
)

// attackTargets selects the designs and workers to attack.
type attackTargets struct {
	workers                   []string
	options                   []string // for all of them, as name=value
	sdks, libraries, controls bool

	dialed []*subject.Worker
}

// open returns the subjects: the named designs, the workers, and the designs
// that the flags add. If there is neither a name nor a worker, it returns all
// designs. stop ends the workers.
func (t *attackTargets) open(names []string, notes io.Writer) (subjects []*attack.Design, stop func(), err error) {
	stop = func() {
		for _, d := range t.dialed {
			d.End()
		}
	}
	defer func() {
		if err != nil {
			stop()
		}
	}()
	designs, err := t.designs(names)
	if err != nil {
		return nil, stop, err
	}
	for _, d := range designs {
		subjects = append(subjects, &attack.Design{Design: d})
	}
	commands, err := t.commands(notes)
	if err != nil {
		return nil, stop, err
	}
	for _, command := range commands {
		d, err := subject.Dial(command, notes)
		if err != nil {
			return nil, stop, err
		}
		t.dialed = append(t.dialed, d)
		subjects = append(subjects, d.Design)
	}
	return subjects, stop, t.choose(subjects)
}

// choose sets the options of every subject. It fails if a subject lacks one of
// them.
func (t *attackTargets) choose(subjects []*attack.Design) error {
	options, err := cli.ParseOptions(t.options)
	if err != nil || len(t.options) == 0 {
		return err
	}
	for _, s := range subjects {
		if _, err := s.Choose(codecs.Config{Options: options}); err != nil {
			return err
		}
		s.Options = options
	}
	return nil
}

// designs returns the subjects that run in this process.
func (t *attackTargets) designs(names []string) ([]codecs.Design, error) {
	var all []codecs.Design
	if len(t.workers) == 0 {
		all = catalog.Variants()
	}
	chosen, err := cli.NamedOrAll(all, names, subject.FindDesign)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, workerAdvice(names))
	}
	if t.libraries {
		chosen = append(chosen, golibs.All()...)
	}
	if t.controls {
		chosen = append(chosen, subject.Controls()...)
	}
	return chosen, nil
}

// workerAdvice tells how to attack a program if one of the names is a file.
func workerAdvice(names []string) string {
	for _, name := range names {
		if _, err := os.Stat(name); err == nil {
			return fmt.Sprintf("; %s is a file: --worker takes its whole command as one argument, such as \"python3 worker.py\"", name)
		}
	}
	return ""
}

// commands returns the workers to start. It prints each SDK that is not
// installed as skipped.
func (t *attackTargets) commands(notes io.Writer) ([][]string, error) {
	var all [][]string
	for _, command := range t.workers {
		all = append(all, strings.Fields(command))
	}
	if !t.sdks {
		return all, nil
	}
	sdks, err := sdk.All(".")
	if err != nil {
		return nil, err
	}
	for _, s := range attackableSDKs(subject.Installed(sdks, notes), notes) {
		all = append(all, []string{subject.SDKMark + s.Name})
	}
	return all, nil
}

// attackableSDKs returns the SDKs that accept any secret. It prints the others
// as skipped: they accept only passwords, so they open no token under the
// secrets of an attack.
func attackableSDKs(sdks []sdk.SDK, notes io.Writer) []sdk.SDK {
	return slices.DeleteFunc(sdks, func(s sdk.SDK) bool {
		passwords := s.Agrees.Keys == "text"
		if passwords {
			fmt.Fprintf(notes, "skipped: %s: it takes passwords, and attacks draw secrets of any bytes\n", s.Name)
		}
		return passwords
	})
}

// jobsOf returns the number of processes of a worker that are attacked in
// parallel.
func (t *attackTargets) jobsOf(d *attack.Design, asked int) int {
	if asked > 0 {
		return asked
	}
	for _, dialed := range t.dialed {
		if dialed.Design == d && dialed.Has(worker.AbilityParallel) {
			return runtime.NumCPU()
		}
	}
	return 1
}

// fit reports whether a worker seals and opens an ordinary token. If not, it
// prints the reason, because attacks find little in such a worker. If it broke
// the protocol, attacks find nothing, and skip is true.
func (f *attackFlags) fit(d *attack.Design, notes io.Writer) (fit, skip bool) {
	if d.Worker == nil {
		return true, false
	}
	err := attack.Check(d)
	if err == nil {
		return true, false
	}
	subject.PrintError(notes, err)
	if fault, ok := errors.AsType[*worker.FaultError](err); ok && fault.Event.BreaksProtocol() {
		f.skipped = append(f.skipped, d.Name)
		return false, true
	}
	fmt.Fprintln(notes, "repair this first: until then the findings are about it")
	f.unfit = append(f.unfit, d.Name+" does not open an ordinary token of its own")
	return false, false
}

// tellFaults prints the standard error of a worker when it first broke, if that
// is a finding.
func (f *attackFlags) tellFaults(notes io.Writer, d *attack.Design, outcome verdict.Design) {
	if d.Broken() && leftOut(outcome) {
		f.unfit = append(f.unfit, d.Name+" broke too often")
	}
	if d.LastWords == nil || !hasRefuted(outcome, codecs.Total) {
		return
	}
	if err := d.LastWords(); err != nil {
		subject.PrintError(notes, err)
	}
}

// leftOut reports whether attacks were left out or cut short for another reason
// than the time.
func leftOut(outcome verdict.Design) bool {
	return slices.ContainsFunc(outcome.Results, func(r verdict.Result) bool { return r.Incomplete && !r.TimeOver })
}

func hasRefuted(outcome verdict.Design, p codecs.Property) bool {
	return slices.ContainsFunc(outcome.Results, func(r verdict.Result) bool { return r.Property == p && r.Outcome == verdict.Refuted })
}

// requireFit returns an error if the outcome of a worker is unreliable: it did
// not open its own token, broke too often, or broke the protocol.
func (f *attackFlags) requireFit() error {
	if len(f.skipped) > 0 {
		return fmt.Errorf("%s: not attacked, because an ordinary token breaks the protocol: repair this first", strings.Join(f.skipped, ", "))
	}
	for _, d := range f.targets.dialed {
		if err := d.Breach(); err != nil {
			return err
		}
	}
	if len(f.unfit) == 0 {
		return nil
	}
	return fmt.Errorf("%s: its outcomes are not reliable", strings.Join(f.unfit, "; "))
}

// requireTested returns an error if attacks on a claimed property were skipped.
// The error includes the first misbehavior of the worker, which may have used
// up the time.
func (f *attackFlags) requireTested(run *verdict.Run) error {
	for _, s := range run.Designs {
		if untested := s.Untested(); len(untested) > 0 {
			t := untested[0]
			return fmt.Errorf("%s: not tested to the end: %s (first: %s, %d of %s): %s%s",
				s.Name, table.Count(len(untested), "claimed guarantee"), t.Property, t.Done, table.Count(t.Of, "attack"), f.untestedReason(t), f.targets.misbehavior(s.Name))
		}
	}
	for _, d := range f.targets.dialed {
		if err := d.UnknownClaims(); err != nil {
			return err
		}
	}
	return nil
}

// untestedReason returns the reason of a tally and, if the time was over, the
// flag that allows more time.
func (f *attackFlags) untestedReason(t verdict.Tally) string {
	if !t.TimeOver {
		return t.Reason
	}
	more := "5m"
	if f.budget >= 5*time.Minute {
		more = (2 * f.budget).String()
	}
	return "the time was over; allow more with --budget " + more
}

// misbehavior describes how often a worker misbehaved, and the first time.
func (t *attackTargets) misbehavior(name string) string {
	var events []worker.Event
	for _, d := range t.dialed {
		if d.Name == name {
			events = append(events, d.Events()...)
		}
	}
	if len(events) == 0 {
		return ""
	}
	return fmt.Sprintf("; the worker misbehaved %s, first: it %s: %s", table.Count(len(events), "time"), events[0].Kind, events[0].Detail)
}
