package targets

import (
	"bytes"
	"slices"
	"sync"

	"sealab/codecs"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
)

var relationsTarget = Target{
	Name: "relations", Layer: layerRelations,
	Doc:   "one relation between answers: the order of the ring does not matter, every key of it opens and a foreign one never, room in dst changes nothing, nor does another call at the same time",
	Draws: true,
	Check: runRelations,
	Seeds: relationsSeeds,
}

// A ringFamily is one design under several rings of the same secrets.
type ringFamily struct {
	one, forward, backward, other *instance
}

var ringFamilies = sync.OnceValue(func() []*ringFamily {
	var all []*ringFamily
	for _, s := range instances() {
		all = append(all, newFamily(s))
	}
	return all
})

func newFamily(s *instance) *ringFamily {
	first, second := ringSecrets(s.Design, 0), ringSecrets(s.Design, 1)
	f := &ringFamily{one: s, forward: s, backward: s}
	f.other = mustOpen(s.Design, codecs.Config{Secrets: second})
	if s.holds(codecs.Rotation) {
		third := ringSecrets(s.Design, 2)
		f.forward = mustOpen(s.Design, codecs.Config{Secrets: slices.Concat(first, second, third)})
		f.backward = mustOpen(s.Design, codecs.Config{Secrets: slices.Concat(third, second, first)})
	}
	return f
}

func (f *ringFamily) isDear() bool { return f.one.dear }

// allRelations are the checks, of which an input chooses one.
var allRelations = []func(*ringFamily, *program.Program) error{
	ofToken((*ringFamily).order), ofToken((*ringFamily).foreign), (*ringFamily).rotated, ofToken((*ringFamily).room),
	(*ringFamily).sealing, ofToken((*ringFamily).together), ofToken((*ringFamily).inspected),
}

func runRelations(p *program.Program) error {
	f := chooseFrom(p, ringFamilies())
	return allRelations[p.Pick(len(allRelations))](f, p)
}

// ofToken returns a check that first seals a token and may alter it.
func ofToken(check func(f *ringFamily, h heldToken, p *program.Program) error) func(*ringFamily, *program.Program) error {
	return func(f *ringFamily, p *program.Program) error {
		h, err := f.one.seal(f.one.seed(p), f.one.payload(p))
		if err != nil {
			return err
		}
		if p.Pick(2) != 0 {
			h.change(program.Alter(p, bytes.Clone(h.token)))
		}
		return check(f, h, p)
	}
}

// order checks that rings of the same keys in another order answer alike.
func (f *ringFamily) order(h heldToken, _ *program.Program) error {
	got, refused, err := f.forward.open(h.token)
	if err != nil {
		return err
	}
	again, refusedAgain, err := f.backward.open(h.token)
	if err != nil {
		return err
	}
	if !sameRefusal(refused, refusedAgain) || !bytes.Equal(got, again) {
		return harness.Fail(f.one.Name, "the answer depends on the order of the ring", "%q", h.token)
	}
	if !h.altered && refused != nil {
		return harness.Fail(f.one.Name, "a ring with the key of a token refuses it", "%s, %s: %q", refused.Stage, refused.Reason, h.token)
	}
	return nil
}

// foreign checks that a ring without the sealing key refuses the token.
func (f *ringFamily) foreign(h heldToken, _ *program.Program) error { return f.requireForeign(h.token) }

// requireForeign returns an error if the other ring opens a token.
func (f *ringFamily) requireForeign(token []byte) error {
	_, refused, err := f.other.open(token)
	if err == nil && refused == nil {
		return harness.Fail(f.other.Name, "a token opens under a ring without its key", "%q", token)
	}
	return err
}

// rotated checks that a token of the last key of a ring opens, and that a ring
// without that key refuses it.
func (f *ringFamily) rotated(p *program.Program) error {
	if !f.one.holds(codecs.Rotation) {
		return nil
	}
	seed, payload := f.one.seed(p), f.one.payload(p)
	token, err := f.backward.codec.SealSeeded(nil, seed, payload)
	if err != nil {
		return err
	}
	if p.Pick(4) == 1 {
		return f.requireForeign(token)
	}
	return f.forward.requireSame(token, payload)
}

// relationsSeeds returns, for every design and relation, a token with and without an
// alteration.
func relationsSeeds() ([][]byte, error) {
	return withContinuations(seedEach(ringFamilies(), func(_ *ringFamily, begin func() *program.Writer) (own [][]byte) {
		for relation := range allRelations {
			sealed := func(payload string) *program.Writer {
				return begin().Pick(relation, len(allRelations)).Bytes([]byte("seed")).Bytes([]byte(payload))
			}
			for n := range byte(4) {
				own = append(own, sealed("payload"[:7-n]).Program(), sealed("payload").Byte(n).Program(),
					sealed("payload").Byte(1).Byte(n).Byte(program.Anywhere).Uint16(20).Byte('A').Program())
			}
		}
		return own
	})), nil
}
