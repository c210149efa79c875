package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/sdk"
	"sealab/codecs/worker"
	"sealab/fuzz/attack"
	"sealab/internal/broken"
	"sealab/internal/cli"
	"sealab/internal/golibs"
)

// attackTargets are what a campaign is against.
type attackTargets struct {
	workers               []string
	options               []string // of each of them, as name=value
	sdks, peers, controls bool
}

// open returns the subjects: the named designs (all, where neither a name nor a
// worker is given), the workers, and what the flags add. stop ends the workers.
func (t *attackTargets) open(names []string, notes io.Writer) (subjects []*attack.Subject, stop func(), err error) {
	var ends []func() error
	stop = func() {
		for _, end := range ends {
			end() //nolint:errcheck // it is over either way
		}
	}
	designs, err := t.designs(names)
	if err != nil {
		return nil, stop, err
	}
	for _, d := range designs {
		subjects = append(subjects, &attack.Subject{Design: d})
	}
	commands, err := t.commands(notes)
	if err != nil {
		return nil, stop, err
	}
	for _, command := range commands {
		s, end, err := dialWorker(command, notes)
		if err != nil {
			stop()
			return nil, stop, err
		}
		ends = append(ends, end)
		subjects = append(subjects, s)
	}
	if err := t.choose(subjects); err != nil {
		stop()
		return nil, stop, err
	}
	return subjects, stop, nil
}

// choose gives the options to every subject. One that does not have them all is
// an error.
func (t *attackTargets) choose(subjects []*attack.Subject) error {
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

// designs are the subjects in this process.
func (t *attackTargets) designs(names []string) ([]codecs.Design, error) {
	var chosen []codecs.Design
	for _, name := range names {
		d, err := findDesign(name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, d)
	}
	if len(names) == 0 && len(t.workers) == 0 {
		chosen = catalog.All()
	}
	if t.peers {
		chosen = append(chosen, golibs.All()...)
	}
	if t.controls {
		for _, c := range broken.Controls() {
			chosen = append(chosen, c.Design)
		}
	}
	return chosen, nil
}

// findDesign finds a design of the catalog, a control or a peer.
func findDesign(name string) (codecs.Design, error) {
	for _, c := range broken.Controls() {
		if c.Name == name {
			return c.Design, nil
		}
	}
	for _, d := range golibs.All() {
		if d.Name == name {
			return d, nil
		}
	}
	return catalog.Find(name)
}

// commands are the workers to start. An SDK that is not installed is
// unexercised, and printed.
func (t *attackTargets) commands(notes io.Writer) ([][]string, error) {
	var all [][]string
	for _, command := range t.workers {
		args := strings.Fields(command)
		if len(args) == 0 {
			return nil, fmt.Errorf("sealab: --worker: want a command")
		}
		all = append(all, args)
	}
	if !t.sdks {
		return all, nil
	}
	sdks, err := sdk.Peers(".")
	if err != nil {
		return nil, err
	}
	for _, p := range installed(sdks, notes) {
		all = append(all, []string{sdkMark + p.Name})
	}
	return all, nil
}

// sdkMark stands before the name of an installed SDK in the place of a command.
const sdkMark = "sdk:"

// dialWorker starts a worker: a command, or an installed SDK as "sdk:NAME".
func dialWorker(command []string, notes io.Writer) (*attack.Subject, func() error, error) {
	start := func(l worker.Limits) (*worker.Client, error) {
		return worker.Dial(worker.Command{Args: command}, l)
	}
	if name, ok := strings.CutPrefix(command[0], sdkMark); ok {
		p, err := sdk.Find(".", name)
		if err != nil {
			return nil, nil, err
		}
		start = p.Dial
	}
	var hello worker.Hello
	s, end, err := attack.Dial(command, func(l worker.Limits) (*worker.Client, error) {
		c, err := start(l)
		if err == nil {
			hello = c.Hello()
		}
		return c, err
	})
	noteUnknown(notes, hello)
	return s, end, err
}

// noteUnknown says which guarantees of a worker are none that the laboratory
// knows, so that a slip in a name is not taken for silence.
func noteUnknown(notes io.Writer, h worker.Hello) {
	for _, p := range slices.Sorted(maps.Keys(h.Guarantees)) {
		if _, err := codecs.ParseProperty(string(p)); err != nil {
			fmt.Fprintf(notes, "%s states %q, which is no property here: it is left out\n", h.Name, p)
		}
	}
}
