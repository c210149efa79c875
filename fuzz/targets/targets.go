// Package targets holds the fuzz targets. A target reads an input as a small program, runs it
// on a design, and checks the answers. The targets cover every design of the catalog.
//
// Four layers concern tokens: the token as text; its inside, edited and authenticated again;
// the same token in several implementations; and relations between answers. The other layers
// concern readers of documents and the worker protocol. A check compares the verdict first
// (accepted or refused), then the stage, then the bytes.
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
	Doc   string // one line: the effect of an input, and the checks
	Layer string
	// Check runs one program. If a check fails it returns an error, usually a
	// harness.CheckError. A panic is a failure as well.
	Check func(*program.Program) error
	// Draws allows inputs to continue with choices from a generator; see program.Continue.
	Draws bool
	// Seeds returns at least one seed.
	Seeds func() ([][]byte, error)
	// Missing returns the reason why the target cannot run on this machine, or "" if it can. It
	// is nil if the target needs no other program.
	Missing func() string
}

// Unavailable returns the reason why the target cannot run here, or "" if it can.
func (t Target) Unavailable() string {
	if t.Missing == nil {
		return ""
	}
	return t.Missing()
}

// Run runs one input; see Check.
func (t Target) Run(input []byte) error {
	p := program.New(input)
	if t.Draws {
		p.Continue()
	}
	err := t.Check(p)
	if errors.Is(err, codecs.ErrUnsupported) {
		return nil // the format cannot carry this state, or a token of its length
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

// NativeName returns the name of the function for go test -fuzz, for example "FuzzText".
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

// Find returns the target with the given name.
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

// testedDesigns returns the designs under test: the catalog, with the bugs named in the
// environment variable injected.Env. Bugs are injected only here.
var testedDesigns = sync.OnceValue(func() []codecs.Design {
	change, err := injected.Change(os.Getenv(injected.Env))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", injected.Env, err))
	}
	return catalog.VariantsWith(change)
})

// pickInstance reads the choice of an instance.
func pickInstance(p *program.Program) *instance { return chooseFrom(p, instances()) }

// A costlyChoice is an element to choose that may take long.
type costlyChoice interface{ isDear() bool }

func (s *instance) isDear() bool { return s.dear }

// chooseFrom reads the choice of one of all, which has at most 128 elements. It rarely returns
// a costly element: a token with key agreement takes as long as a hundred others. Otherwise the
// same choice selects another element in its place.
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

// withContinuations returns each seed unchanged, and followed by the mark that continues with
// drawn choices. It drops seeds that already continue.
func withContinuations(seeds [][]byte) [][]byte {
	all := make([][]byte, 0, 2*len(seeds))
	for _, seed := range seeds {
		if !program.GoesOn(seed) {
			all = append(all, seed, append(bytes.Clone(seed), program.More))
		}
	}
	return all
}

// seedEach returns the seeds that own returns for each of all. begin starts a program that
// chooses the element; see chooseFrom. A costly element gets only its first seed, with the mark
// that chooses it. Fuzzers keep that mark in most mutations.
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
