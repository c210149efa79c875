// Package subject finds the designs, SDKs and workers that a command line names, and starts the workers.
package subject

import (
	"errors"
	"fmt"
	"io"
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

// Controls returns the negative controls.
func Controls() []codecs.Design {
	var all []codecs.Design
	for _, c := range broken.Controls() {
		all = append(all, c.Design)
	}
	return all
}

// FindDesign returns a design of the catalog, a negative control or a Go
// library.
func FindDesign(name string) (codecs.Design, error) {
	others := slices.Concat(Controls(), golibs.All())
	if i := slices.IndexFunc(others, func(d codecs.Design) bool { return d.Name == name }); i >= 0 {
		return others[i], nil
	}
	return catalog.Find(name)
}

// Installed returns the SDKs that can be started. It prints the others as
// skipped.
func Installed(sdks []sdk.SDK, notes io.Writer) []sdk.SDK {
	var there []sdk.SDK
	for _, s := range sdks {
		if why := s.Unavailable(); why != "" {
			fmt.Fprintf(notes, "skipped: %s: %s\n", s.Name, why)
			continue
		}
		there = append(there, s)
	}
	return there
}

// SDKMark precedes the name of an installed SDK that is given in place of a
// command.
const SDKMark = "sdk:"

// Starter returns a function that starts a worker: a command, or an
// installed SDK as "sdk:NAME".
func Starter(command []string) (func(worker.Limits) (*worker.Client, error), error) {
	if len(command) == 0 {
		return nil, errors.New("--worker: want a command")
	}
	if name, ok := strings.CutPrefix(command[0], SDKMark); ok {
		s, err := sdk.Find(".", name)
		return s.Dial, err
	}
	return func(l worker.Limits) (*worker.Client, error) {
		return worker.Dial(worker.Command{Args: command}, l)
	}, nil
}

// Dial starts the worker with the given command.
func Dial(command []string, notes io.Writer) (*Worker, error) {
	start, err := Starter(command)
	if err != nil {
		return nil, err
	}
	d := new(Worker)
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
	d.Design, d.End = s, func() {
		end() //nolint:errcheck // all answers have been read
	}
	NoteUnknown(notes, d.clients[0].Hello())
	return d, nil
}

// A Worker is a running worker with the clients that have used it.
type Worker struct {
	*attack.Design
	End     func()
	clients []*worker.Client
}

// Has reports whether the worker states an ability.
func (d *Worker) Has(ability worker.Ability) bool { return d.clients[0].Has(ability) }

// Events returns the events of all clients.
func (d *Worker) Events() []worker.Event {
	var all []worker.Event
	for _, c := range d.clients {
		all = append(all, c.Events()...)
	}
	return all
}

// Breach returns an error if the worker broke the protocol.
func (d *Worker) Breach() error {
	for _, c := range d.clients {
		if err := ProtocolBreach(c, d.Name); err != nil {
			return err
		}
	}
	return nil
}

// ProtocolBreach returns an error if the named worker broke the protocol.
func ProtocolBreach(c *worker.Client, name string) error {
	for _, e := range c.Events() {
		if e.BreaksProtocol() {
			return fmt.Errorf("%s broke the protocol: %s", name, e.Detail)
		}
	}
	return nil
}

// NoteUnknown prints the guarantees and abilities of a worker that this program
// does not know, so that a misspelled name is noticed.
func NoteUnknown(notes io.Writer, h worker.Hello) {
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

// UnknownClaims returns an error if the worker claims a property that no attack
// tests, because this version does not know it or it does not apply to the
// worker's kind.
func (d *Worker) UnknownClaims() error {
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
// can have. A codec gets no principal, so that its tokens are unlinkable.
func schemesClaim(h worker.Hello) error {
	for _, info := range codecs.Properties() {
		if h.Kind == codecs.KindCodec && info.SchemeOnly && info.Property != codecs.Unlinkable && h.Guarantees[info.Property] {
			return fmt.Errorf("only a scheme has the property %q, and the worker is a codec", info.Property)
		}
	}
	return nil
}

// PrintError prints err as one line. If a worker ended, it also prints the end
// of its standard error. It returns the exit status.
func PrintError(w io.Writer, err error) int {
	status := cli.Exit(w, "sealab", err)
	fault, ok := errors.AsType[*worker.FaultError](err)
	if status != cli.Fault || !ok || strings.TrimSpace(fault.Event.Stderr) == "" {
		return status
	}
	fmt.Fprintln(w, "the end of the worker's standard error:")
	for line := range strings.Lines(strings.TrimSpace(fault.Event.Stderr)) {
		fmt.Fprintln(w, "  "+strings.TrimRight(line, "\r\n"))
	}
	return status
}
