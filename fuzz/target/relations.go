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
	Doc:   "relations between answers: the order of the ring does not matter, a foreign key never opens, room in dst changes nothing",
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
		f.forward = mustSubject(s.Design, codecs.Config{Secrets: slices.Concat(first, second)})
		f.backward = mustSubject(s.Design, codecs.Config{Secrets: slices.Concat(second, first)})
	}
	return f
}

func relations(p *program.Program) error {
	f := families()[p.Pick(len(families()))]
	seed, payload := f.one.seed(p), f.one.payload(p)
	token, err := f.one.assembler.SealSeeded(nil, seed, payload)
	if err != nil {
		return err
	}
	presented := bytes.Clone(token)
	if !p.Done() {
		presented = alter(p, presented)
	}
	if err := sameAnswer(f.forward, f.backward, presented); err != nil {
		return err
	}
	if err := f.foreign(presented); err != nil {
		return err
	}
	return f.one.sameWithRoom(presented)
}

// sameAnswer returns an error unless two rings of the same keys answer alike.
func sameAnswer(a, b subject, token []byte) error {
	got, refused, err := a.open(token)
	if err != nil {
		return err
	}
	again, refusedAgain, err := b.open(token)
	if err != nil {
		return err
	}
	if !sameRefusal(refused, refusedAgain) || !bytes.Equal(got, again) {
		return fmt.Errorf("%s: %q is answered differently by the ring in another order", a.Name, token)
	}
	return nil
}

// foreign returns an error when a ring without the sealing key opens a token.
func (f family) foreign(token []byte) error {
	_, refused, err := f.other.open(token)
	if err == nil && refused == nil {
		return fmt.Errorf("%s: %q opens under a key that did not seal it", f.other.Name, token)
	}
	return err
}

// sameWithRoom returns an error unless spare capacity in dst makes no
// difference.
func (s subject) sameWithRoom(token []byte) error {
	got, refused, err := s.open(token)
	if err != nil {
		return err
	}
	out, err := s.codec.Unseal(make([]byte, 0, 4096), token)
	if !sameRefusal(refused, codecs.Rejected(err)) || !bytes.Equal(got, out) {
		return fmt.Errorf("%s: %q is answered differently when dst has room", s.Name, token)
	}
	return nil
}

// relationsSeeds are a token of every design, whole and altered.
func relationsSeeds() ([][]byte, error) { return textSeeds() }
