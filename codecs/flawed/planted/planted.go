// Package planted is mistakes to be found: proof that fuzzing finds things. The
// build tag planted puts them into the designs of the catalog; without it no
// design has any.
//
// A bug wraps a sound design and has no key. Where a mistake is in what the
// cryptography compares, it is acted out: the wrapper remembers the token that
// it sealed last and takes for it whatever the mistake would take for it. What a
// fuzzer sees is the same, as every target seals before it opens.
//
// The environment variable SEALAB_PLANTED names the bugs, separated by commas;
// where it is empty all of them are there. Never use anything from this package
// but to test a fuzzer.
package planted

import (
	"os"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
)

// Env names the environment variable that chooses bugs.
const Env = "SEALAB_PLANTED"

// A Bug is one planted mistake. Its parts that are nil change nothing.
type Bug struct {
	Name   string
	Doc    string // what the programmer got wrong
	Target string // the fuzz target that is made to see it

	in func(codecs.Design) bool // the designs that have it

	takes   func(token, sealed []byte) bool                       // takes a token for the one that was sealed last
	opening func(open opener, dst, token []byte) ([]byte, error)  // opens a token
	carried func(payload []byte) []byte                           // what is sealed for a payload, and released for what was sealed
	binding func(codecs.Context) codecs.Context                   // the context that is looked at
	reading func(time.Time) time.Time                             // the time that is looked at
	ring    func(token []byte, secrets [][]byte) (tried [][]byte) // the secrets that are tried
	cached  func(token []byte) (key string, ok bool)              // what a token's answer is remembered under
}

// opener opens a token, as codecs.Codec.Unseal.
type opener func(dst, token []byte) ([]byte, error)

// Bugs returns every bug.
func Bugs() []Bug { return slices.Concat(spellings(), states(), contexts(), rare()) }

// In returns the designs with the chosen bugs in them.
func In(designs []codecs.Design) []codecs.Design {
	planted := slices.Clone(designs)
	for _, b := range chosen(os.Getenv(Env)) {
		for i, d := range planted {
			if b.in(d) {
				planted[i] = b.plant(d)
			}
		}
	}
	return planted
}

// chosen returns the bugs that names, separated by commas, ask for.
func chosen(names string) []Bug {
	if names == "" {
		return Bugs()
	}
	wanted := strings.Split(names, ",")
	return slices.DeleteFunc(Bugs(), func(b Bug) bool { return !slices.Contains(wanted, b.Name) })
}

// plant returns d with b in it.
func (b Bug) plant(d codecs.Design) codecs.Design {
	if sound := d.NewCodec; sound != nil {
		d.NewCodec = func(c codecs.Config) (codecs.Codec, error) { return b.newCodec(sound, c) }
	}
	if sound := d.NewScheme; sound != nil {
		d.NewScheme = func(c codecs.Config) (codecs.Scheme, error) { return b.newScheme(sound, c) }
	}
	return d
}

// Which designs have a bug.

func codecsWith(primitive string) func(codecs.Design) bool {
	return func(d codecs.Design) bool { return !d.IsScheme() && lab.HooksOf(d).Primitive == primitive }
}

func schemesThatHold(p codecs.Property) func(codecs.Design) bool {
	return func(d codecs.Design) bool {
		g, ok := d.Guarantee(p)
		return d.IsScheme() && ok && g.Holds
	}
}

// lenientReadings are the faithful readings of formats.
func lenientReadings(d codecs.Design) bool {
	g, ok := d.Guarantee(codecs.Canonical)
	return d.IsScheme() && d.Format != "" && ok && !g.Holds
}
