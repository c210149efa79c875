package target

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"sealab/codecs"
	"sealab/fuzz/program"
)

var relationsTarget = Target{
	Name: "relations", Layer: LayerRelations,
	Doc:   "one relation between answers: the order of the ring does not matter, every key of it opens and a foreign one never, room in dst changes nothing, nor does another call at the same time",
	Run:   relations,
	Seeds: relationsSeeds,
}

// A family is one design under several rings of the same two secrets.
type family struct {
	one, forward, backward, other subject
}

var families = sync.OnceValue(func() []family {
	var all []family
	for _, s := range subjects() {
		all = append(all, newFamily(s))
	}
	return all
})

func newFamily(s subject) family {
	first, second := secrets(s.Design, 0), secrets(s.Design, 1)
	f := family{one: s, forward: s, backward: s}
	f.other = mustSubject(s.Design, codecs.Config{Secrets: second})
	if s.holds(codecs.Rotation) {
		third := secrets(s.Design, 2)
		f.forward = mustSubject(s.Design, codecs.Config{Secrets: slices.Concat(first, second, third)})
		f.backward = mustSubject(s.Design, codecs.Config{Secrets: slices.Concat(third, second, first)})
	}
	return f
}

// A presented token is one that a relation looks at: as sealed, or altered.
type presented struct {
	token         []byte
	seed, payload []byte
	altered       bool
}

// allRelations are what an input chooses among.
var allRelations = []func(family, *program.Program, presented) error{
	family.order, family.foreign, family.rotated, family.room, family.sealing, family.together, family.inspected,
}

func relations(p *program.Program) error {
	p.Continue()
	all := families()
	f := all[choose(p, len(all), func(i int) bool { return all[i].one.dear })]
	holds := allRelations[p.Pick(len(allRelations))]
	what := presented{seed: f.one.seed(p), payload: f.one.payload(p)}
	token, err := f.one.assembler.SealSeeded(nil, what.seed, what.payload)
	if err != nil {
		return err
	}
	if what.token = token; p.Pick(2) == 1 {
		what.token = alter(p, bytes.Clone(token))
		what.altered = !bytes.Equal(what.token, token)
	}
	return holds(f, p, what)
}

// order: rings of the same keys answer alike.
func (f family) order(_ *program.Program, what presented) error {
	got, refused, err := f.forward.open(what.token)
	if err != nil {
		return err
	}
	again, refusedAgain, err := f.backward.open(what.token)
	if err != nil {
		return err
	}
	if !sameRefusal(refused, refusedAgain) || !bytes.Equal(got, again) {
		return fmt.Errorf("%s: %q is answered differently by the ring in another order", f.one.Name, what.token)
	}
	if !what.altered && refused != nil {
		return fmt.Errorf("%s: %q is refused by a ring with its key: %s, %s", f.one.Name, what.token, refused.Stage, refused.Reason)
	}
	return nil
}

// foreign: a ring without the sealing key opens nothing.
func (f family) foreign(_ *program.Program, what presented) error {
	_, refused, err := f.other.open(what.token)
	if err == nil && refused == nil {
		return fmt.Errorf("%s: %q opens under a key that did not seal it", f.other.Name, what.token)
	}
	return err
}

// rotated: what the last key of a ring sealed opens as well, and a ring that
// lost that key opens it no more.
func (f family) rotated(_ *program.Program, what presented) error {
	if !f.one.holds(codecs.Rotation) {
		return nil
	}
	token, err := f.backward.assembler.SealSeeded(nil, what.seed, what.payload)
	if err != nil {
		return err
	}
	if err := f.forward.requireSame(token, what.payload); err != nil {
		return err
	}
	return f.foreign(nil, presented{token: token})
}

// relationsSeeds are, for every design and relation, a token as it is and one
// that is altered.
func relationsSeeds() ([][]byte, error) {
	var seeds [][]byte
	for i := range families() {
		for relation := range allRelations {
			for n := range byte(4) {
				var w program.Writer
				w.Pick(i, len(families())).Pick(relation, len(allRelations))
				w.Bytes([]byte("seed")).Bytes([]byte("payload")[:7-n])
				seeds = append(seeds, bytes.Clone(w.Program()), w.Byte(1).Byte(n).Byte(anywhere).Uint16(20).Byte('A').Program())
			}
			var w program.Writer
			seeds = append(seeds, w.Pick(i, len(families())).Pick(relation, len(allRelations)).Byte(program.More).Program())
		}
	}
	return seeds, nil
}
