package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/sdk"
	"sealab/codecs/worker"
	"sealab/fuzz/attack"
	"sealab/internal/broken"
	"sealab/internal/cli"
	"sealab/internal/golibs"
	"sealab/internal/verdict"
)

// attackTargets selects the designs and workers to attack.
type attackTargets struct {
	workers                   []string
	options                   []string // for all of them, as name=value
	sdks, libraries, controls bool

	dialed []*dialedWorker
}

// open returns the subjects: the named designs, the workers, and the designs
// that the flags add. If there is neither a name nor a worker, it returns all
// designs. stop ends the workers.
func (t *attackTargets) open(names []string, notes io.Writer) (subjects []*attack.Design, stop func(), err error) {
	stop = func() {
		for _, d := range t.dialed {
			d.end()
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
		d, err := dialWorker(command, notes)
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
	chosen, err := cli.NamedOrAll(all, names, findDesign)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, workerAdvice(names))
	}
	if t.libraries {
		chosen = append(chosen, golibs.All()...)
	}
	if t.controls {
		chosen = append(chosen, controlDesigns()...)
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

// controlDesigns returns the negative controls.
func controlDesigns() []codecs.Design {
	var all []codecs.Design
	for _, c := range broken.Controls() {
		all = append(all, c.Design)
	}
	return all
}

// findDesign returns a design of the catalog, a negative control or a Go
// library.
func findDesign(name string) (codecs.Design, error) {
	others := slices.Concat(controlDesigns(), golibs.All())
	if i := slices.IndexFunc(others, func(d codecs.Design) bool { return d.Name == name }); i >= 0 {
		return others[i], nil
	}
	return catalog.Find(name)
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
	for _, s := range attackableSDKs(installedSDKs(sdks, notes), notes) {
		all = append(all, []string{sdkMark + s.Name})
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

// sdkMark precedes the name of an installed SDK that is given in place of a
// command.
const sdkMark = "sdk:"

// workerStarter returns a function that starts a worker: a command, or an
// installed SDK as "sdk:NAME".
func workerStarter(command []string) (func(worker.Limits) (*worker.Client, error), error) {
	if len(command) == 0 {
		return nil, errors.New("--worker: want a command")
	}
	if name, ok := strings.CutPrefix(command[0], sdkMark); ok {
		s, err := sdk.Find(".", name)
		return s.Dial, err
	}
	return func(l worker.Limits) (*worker.Client, error) {
		return worker.Dial(worker.Command{Args: command}, l)
	}, nil
}

// dialWorker starts the worker with the given command.
func dialWorker(command []string, notes io.Writer) (*dialedWorker, error) {
	start, err := workerStarter(command)
	if err != nil {
		return nil, err
	}
	d := new(dialedWorker)
	s, end, err := attack.Dial(command, func(l worker.Limits) (*worker.Client, error) {
		c, err := start(l)
		if err == nil {
			d.clients = append(d.clients, c)
		}
		return c, err
	})
	if err != nil {
		return nil, err
	}
	d.Design, d.end = s, func() {
		end() //nolint:errcheck // all answers have been read
	}
	noteUnknown(notes, d.clients[0].Hello())
	return d, nil
}

// A dialedWorker is a running worker with the clients that have used it.
type dialedWorker struct {
	*attack.Design
	end     func()
	clients []*worker.Client
}

// breach returns an error if the worker broke the protocol.
func (d *dialedWorker) breach() error {
	for _, c := range d.clients {
		if err := protocolBreach(c, d.Name); err != nil {
			return err
		}
	}
	return nil
}

// protocolBreach returns an error if the named worker broke the protocol.
func protocolBreach(c *worker.Client, name string) error {
	for _, e := range c.Events() {
		if e.BreaksProtocol() {
			return fmt.Errorf("%s broke the protocol: %s: %s", name, e.Kind, e.Detail)
		}
	}
	return nil
}

// noteUnknown prints the guarantees and abilities of a worker that this program
// does not know, so that a misspelled name is noticed.
func noteUnknown(notes io.Writer, h worker.Hello) {
	claimed, disclaimed := h.Unknown()
	for _, p := range append(claimed, disclaimed...) {
		_, err := codecs.ParseProperty(string(p))
		fmt.Fprintf(notes, "%s states a guarantee that is left out: %v\n", h.Name, err)
	}
	if err := schemesClaim(h); err != nil {
		fmt.Fprintf(notes, "%s states a guarantee that is left out: %v\n", h.Name, err)
	}
	for _, a := range h.UnknownAbilities() {
		fmt.Fprintf(notes, "%s states the ability %q, which is left out; there are %v\n", h.Name, a, worker.Abilities())
	}
}

// unknownClaims returns an error if the worker claims a property that no attack
// tests, because this version does not know it or it does not apply to the
// worker's kind.
func (d *dialedWorker) unknownClaims() error {
	h := d.clients[0].Hello()
	err := schemesClaim(h)
	if claimed, _ := h.Unknown(); len(claimed) > 0 {
		_, err = codecs.ParseProperty(string(claimed[0]))
	}
	if err != nil {
		return fmt.Errorf("%s claims a guarantee that was not tested: %w", d.Name, err)
	}
	return nil
}

// schemesClaim returns an error if a codec claims a property that only schemes
// can have.
func schemesClaim(h worker.Hello) error {
	for _, info := range codecs.Properties() {
		if h.Kind == codecs.KindCodec && info.SchemeOnly && h.Guarantees[info.Property] {
			return fmt.Errorf("only a scheme has the property %q, and the worker is a codec", info.Property)
		}
	}
	return nil
}

// jobsOf returns the number of processes of a worker that are attacked in
// parallel.
func (t *attackTargets) jobsOf(d *attack.Design, asked int) int {
	if asked > 0 {
		return asked
	}
	for _, dialed := range t.dialed {
		if dialed.Design == d && dialed.clients[0].Has(worker.AbilityParallel) {
			return runtime.NumCPU()
		}
	}
	return 1
}

// fit reports whether a worker seals and opens an ordinary token. If not, it
// prints the reason, because attacks find little in such a worker.
func (f *attackFlags) fit(d *attack.Design, notes io.Writer) bool {
	if d.Worker == nil {
		return true
	}
	err := attack.Check(d)
	if err == nil {
		return true
	}
	printError(notes, err)
	f.unfit = append(f.unfit, d.Name+" does not open an ordinary token of its own")
	return false
}

// tellFaults prints the standard error of a worker when it first broke, if that
// is a finding.
func (f *attackFlags) tellFaults(notes io.Writer, d *attack.Design, outcome verdict.Design) {
	if d.Broken() {
		f.unfit = append(f.unfit, d.Name+" broke too often")
	}
	if d.LastWords == nil || !hasRefuted(outcome, codecs.Total) {
		return
	}
	if err := d.LastWords(); err != nil {
		printError(notes, err)
	}
}

func hasRefuted(outcome verdict.Design, p codecs.Property) bool {
	return slices.ContainsFunc(outcome.Results, func(r verdict.Result) bool { return r.Property == p && r.Outcome == verdict.Refuted })
}

// requireFit returns an error if the outcome of a worker is unreliable: it did
// not open its own token, broke too often, or broke the protocol.
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

// requireTested returns an error if attacks on a claimed property were skipped.
// The error includes the first misbehavior of the worker, which may have used
// up the time.
func (f *attackFlags) requireTested(run *verdict.Run) error {
	for _, s := range run.Designs {
		if untested := s.Untested(); len(untested) > 0 {
			t := untested[0]
			return fmt.Errorf("%s: %d claimed guarantees were not tested to the end (first: %s, %d of %d attacks): %s%s",
				s.Name, len(untested), t.Property, t.Done, t.Of, f.untestedReason(t), f.targets.misbehavior(s.Name))
		}
	}
	for _, d := range f.targets.dialed {
		if err := d.unknownClaims(); err != nil {
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
		for _, c := range d.clients {
			if d.Name == name {
				events = append(events, c.Events()...)
			}
		}
	}
	if len(events) == 0 {
		return ""
	}
	return fmt.Sprintf("; the worker misbehaved %d times, first: it %s: %s", len(events), events[0].Kind, events[0].Detail)
}
