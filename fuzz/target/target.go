// Package target holds what is fuzzed: functions from one input, read as a
// small program, to a verdict. They range over the catalog and so cover every
// design without naming one.
//
// There are four layers of tokens: the token as text; the inside, altered and
// authenticated again; the same token in several implementations; relations
// that must hold. Beside them are the readers of documents and the worker
// protocol. Oracles compare the verdict first (accepted or refused), then
// the stage, then the bytes.
package target

import (
	"fmt"
	"strings"

	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
)

// A Target is one thing to fuzz.
type Target struct {
	Name  string // lower case, digits and hyphens: "text"
	Doc   string // what an input does and what must hold, in one line
	Layer string
	// Check runs one program. It returns nil where everything holds, and an error
	// that says what does not. A panic is a finding as well.
	Check func(*program.Program) error
	// Draws says that an input may go on with choices that nobody made: see
	// program.Continue.
	Draws bool
	// Seeds returns inputs to begin from. There is at least one.
	Seeds func() ([][]byte, error)
	// Missing returns what is not on this machine that the target needs, "" where
	// there is nothing. nil: it needs nothing.
	Missing func() string
}

// Unavailable returns why the target cannot run here, "" where it can.
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
	return t.Check(p)
}

// Subject returns what the harness runs.
func (t Target) Subject() (harness.Func, error) {
	seeds, err := t.Seeds()
	s := harness.Func{Name: t.Name, Seeds: seeds, Run: t.Run}
	if t.Draws {
		s.Explicit = program.Explicit
	}
	return s, err
}

// The layers.
const (
	LayerText            = "text"
	LayerInside          = "inside"
	LayerImplementations = "implementations"
	LayerRelations       = "relations"
	LayerReaders         = "readers"
	LayerProtocol        = "protocol"
)

// All returns every target.
func All() []Target {
	return []Target{
		textTarget,
		insideTarget,
		claimsTarget,
		relationsTarget,
		sequencesTarget,
		contextsTarget,
		readingsTarget,
		remoteTarget,
		primitivesTarget,
		jsonTarget,
		pythonTarget,
		servingTarget,
		answersTarget,
		peersTarget,
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
	return Target{}, fmt.Errorf("sealab: no fuzz target %q; there are %s", name, strings.Join(known, ", "))
}

// NativeName is the name of the target's function for go test -fuzz: "FuzzText".
func (t Target) NativeName() string {
	name := "Fuzz"
	for _, word := range strings.Split(t.Name, "-") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}
