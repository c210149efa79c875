// Package injected defines bugs to inject into sound designs. They test whether fuzzing finds them, as in
// LAVA and Magma.
//
// A bug wraps a sound design and has no key. A wrong comparison inside the cryptography is imitated: the
// wrapper remembers the last sealed token, and substitutes it for each token that the wrong comparison
// would accept. A fuzzer sees no difference, because every target seals before it opens.
package injected

import (
	"fmt"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/internal/lab"
)

// Env is the environment variable with the names of the bugs to inject: a comma-separated list, or All.
// Fuzz targets read it.
const (
	Env = "SEALAB_INJECT"
	All = "all"
)

// A Bug is one injected bug. A nil hook leaves the design unchanged.
type Bug struct {
	Name   string
	Doc    string // the fault in the code
	Target string // the fuzz target that must find it

	in func(codecs.Design) bool // the designs with the bug

	takes   func(token, sealed []byte) bool                       // accepts a token as the last sealed one
	opening func(open opener, dst, token []byte) ([]byte, error)  // opens a token
	carried func(payload []byte) []byte                           // changes payloads when sealing and opening
	context func(c *codecs.Context)                               // changes the context when sealing and opening
	clock   func(c *codecs.Context)                               // changes the time when opening
	ring    func(token []byte, secrets [][]byte) (tried [][]byte) // chooses the secrets for a token
	cached  func(token []byte) (key string, ok bool)              // the key of a cache of payloads
}

// opener opens a token, as codecs.Codec.Unseal.
type opener func(dst, token []byte) ([]byte, error)

// Bugs returns every bug.
func Bugs() []Bug { return slices.Concat(spellings(), states(), contexts(), rare()) }

// Change returns a function that injects bugs into a design. names is a comma-separated list of bugs, or
// All. If names is empty, the function returns the design unchanged.
func Change(names string) (func(codecs.Design) codecs.Design, error) {
	chosen, err := find(names)
	if err != nil {
		return nil, err
	}
	return func(d codecs.Design) codecs.Design {
		for _, b := range chosen {
			if b.in(d) {
				d = b.inject(d)
			}
		}
		return d
	}, nil
}

func find(names string) ([]Bug, error) {
	all := Bugs()
	switch names {
	case "":
		return nil, nil
	case All:
		return all, nil
	}
	var chosen []Bug
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(b Bug) bool { return b.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no injected bug %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// codecsWith returns a condition that holds for codecs with a primitive.
func codecsWith(primitive string) func(codecs.Design) bool {
	return func(d codecs.Design) bool { return !d.IsScheme() && lab.HooksOf(d).Primitive == primitive }
}

// schemesThatHold returns a condition that holds for schemes that claim p.
func schemesThatHold(p codecs.Property) func(codecs.Design) bool {
	return func(d codecs.Design) bool {
		g, ok := d.Guarantee(p, nil)
		return d.IsScheme() && ok && g.Holds
	}
}

// lenientReadings holds for options of a format that accept more than one encoding of a token.
func lenientReadings(d codecs.Design) bool {
	g, ok := d.Guarantee(codecs.Canonical, nil)
	return d.IsScheme() && d.Format != "" && ok && !g.Holds
}
