// Package targets has the fuzz targets: functions that read an input as a small
// program, run it on a design, and check the answers. They range over the catalog
// and so cover every design.
//
// Four layers concern tokens: the token as text; the inside, altered and
// authenticated again; the same token in several implementations; relations
// between answers. The other layers concern readers of documents and the worker
// protocol. A check compares the verdict first (accepted or refused), then the
// stage, then the bytes.
package targets

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
	"sealab/internal/broken/injected"
)

//go:generate go test -count=1 -run ^TestGenerated$ . -args -generate

// A Target is one fuzz target.
type Target struct {
	Name  string // lower case, digits and hyphens: "text"
	Doc   string // the effect of an input and the checks, in one line
	Layer string
	// Check runs one program. It returns an error, mostly a harness.CheckError, if
	// a check fails. A panic is a failure as well.
	Check func(*program.Program) error
	// Draws allows inputs to continue with choices from a generator: see
	// program.Continue.
	Draws bool
	// Seeds returns the seeds, at least one.
	Seeds func() ([][]byte, error)
	// Missing returns why the target cannot run on this machine, "" if it can. nil:
	// it needs no other program.
	Missing func() string
}

// Unavailable returns why the target cannot run here, "" if it can.
func (t Target) Unavailable() string {
	if t.Missing == nil {
		return ""
	}
	return t.Missing()
}

// Run runs one input: see Check.
func (t Target) Run(input []byte) error {
	p := program.New(input)
	if t.Draws {
		p.Continue()
	}
	err := t.Check(p)
	if errors.Is(err, codecs.ErrUnsupported) {
		return nil // the format does not carry this state, or a token of its length
	}
	return err
}

// Func returns the target for the harness.
func (t Target) Func() (harness.Func, error) {
	seeds, err := t.Seeds()
	f := harness.Func{Name: t.Name, Seeds: seeds, Run: t.Run}
	if t.Draws {
		f.Explicit = program.Explicit
	}
	return f, err
}

// NativeName is the name of the function for go test -fuzz: "FuzzText".
func (t Target) NativeName() string {
	name := "Fuzz"
	for word := range strings.SplitSeq(t.Name, "-") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// The layers.
const (
	layerText            = "text"
	layerInside          = "inside"
	layerImplementations = "implementations"
	layerRelations       = "relations"
	layerReaders         = "readers"
	layerProtocol        = "protocol"
)

// All returns every target. The entry points are generated from it.
func All() []Target {
	return []Target{
		textTarget, insideTarget, claimsTarget, relationsTarget, sequencesTarget, contextsTarget, readingsTarget,
		remoteTarget, primitivesTarget, jsonTarget, pythonTarget, servingTarget, answersTarget, sdksTarget,
	}
}

// Find returns the target called name.
func Find(name string) (Target, error) {
	var known []string
	for _, t := range All() {
		if t.Name == name {
			return t, nil
		}
		known = append(known, t.Name)
	}
	return Target{}, catalog.Unknown("fuzz target", name, known)
}

// testedDesigns returns the designs under test: the catalog, with the bugs that the
// environment variable injected.Env names. It is the only place that injects
// bugs.
var testedDesigns = sync.OnceValue(func() []codecs.Design {
	change, err := injected.Change(os.Getenv(injected.Env))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", injected.Env, err))
	}
	return catalog.VariantsWith(change)
})

// pickInstance chooses an instance.
func pickInstance(p *program.Program) *instance { return chooseFrom(p, instances()) }

// A costlyChoice may take much time.
type costlyChoice interface{ isDear() bool }

func (s *instance) isDear() bool { return s.dear }

// chooseFrom reads the choice of one of all, at most 128. It seldom takes a costly
// one: with a key agreement, a token takes the time of a hundred others.
// Otherwise another one takes its place, by the same choice.
func chooseFrom[T costlyChoice](p *program.Program, all []T) T {
	choice := int(p.Byte())
	chosen, round := choice%len(all), choice/len(all)
	if !all[chosen].isDear() || p.Seldom() {
		return all[chosen]
	}
	for i := range all {
		if other := all[(chosen+round+i)%len(all)]; !other.isDear() {
			return other
		}
	}
	return all[chosen]
}

// withContinuations returns each seed as it is, and followed by the mark that continues
// with drawn choices. It drops seeds that continue by themselves.
func withContinuations(seeds [][]byte) [][]byte {
	all := make([][]byte, 0, 2*len(seeds))
	for _, seed := range seeds {
		if !program.GoesOn(seed) {
			all = append(all, seed, append(bytes.Clone(seed), program.More))
		}
	}
	return all
}

// seedEach returns the seeds that own returns for each of all. begin starts a program
// that chooses it: see chooseFrom. A costly choice gets its first seed alone, with the mark
// that chooses it: fuzzers keep the mark in most mutations.
func seedEach[T costlyChoice](all []T, own func(choice T, begin func() *program.Writer) [][]byte) [][]byte {
	var seeds [][]byte
	for i, choice := range all {
		chosen := own(choice, func() *program.Writer { return new(program.Writer).Pick(i, len(all)) })
		if choice.isDear() {
			chosen = [][]byte{append(bytes.Clone(chosen[0]), program.Dear)}
		}
		seeds = append(seeds, chosen...)
	}
	return seeds
}
