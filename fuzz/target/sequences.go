package target

import (
	"bytes"
	"fmt"

	"sealab/codecs"
	"sealab/fuzz/program"
)

var sequencesTarget = Target{
	Name: "sequences", Layer: LayerRelations,
	Doc:   "many tokens made, altered and opened in any order: an answer does not depend on what was opened before",
	Run:   sequences,
	Seeds: sequencesSeeds,
}

// maxHeld is how many tokens a sequence holds at one time.
const maxHeld = 8

// A held token is one of a sequence, with what opening it must say: the first
// answer that it got, or that it carries payload.
type held struct {
	token, origin, payload []byte
	altered                bool
}

// sequences runs operations on one design. All tokens are sealed under one key,
// so that what a design remembers of one meets the others.
func sequences(p *program.Program) error {
	p.Continue()
	s := pick(p)
	var tokens, sealed []held // those at hand, and all
	for i := 0; i < 32 && !p.Done(); i++ {
		op := p.Pick(5)
		if op == 0 || len(tokens) == 0 {
			h, err := s.hold(p)
			if err != nil {
				return err
			}
			tokens, sealed = append(tokens[max(0, len(tokens)-maxHeld+1):], h), append(sealed, h)
			continue
		}
		h := &tokens[p.Pick(len(tokens))]
		if op == 4 {
			h.token = splice(p, h.token, tokens[p.Pick(len(tokens))].origin)
			h.altered = !bytes.Equal(h.token, h.origin)
			continue
		}
		if op == 1 {
			h.token = alter(p, bytes.Clone(h.token))
			h.altered = !bytes.Equal(h.token, h.origin)
			continue
		}
		if err := s.requireHeld(*h, sealed); err != nil {
			return err
		}
	}
	return nil
}

// splice returns the beginning of one token and the end of another.
func splice(p *program.Program, first, second []byte) []byte {
	return append(bytes.Clone(first[:spot(p, first)]), second[spot(p, second):]...)
}

func (s subject) hold(p *program.Program) (held, error) {
	seed, payload := s.seed(p), bytes.Clone(s.payload(p))
	token, err := s.assembler.SealSeeded(nil, seed, payload)
	return held{token: token, origin: bytes.Clone(token), payload: payload}, err
}

// requireHeld opens a token, and returns an error unless it says what it must. A
// token that was altered into another of the sequence is that one, in any
// spelling that the design takes.
func (s subject) requireHeld(h held, others []held) error {
	if !h.altered {
		return s.requireSame(h.token, h.payload)
	}
	for _, o := range others {
		if bytes.Equal(o.origin, h.token) {
			return s.requireSame(h.token, o.payload)
		}
	}
	if got, refused, err := s.open(h.token); err == nil && refused == nil && !s.holds(codecs.Canonical) {
		for _, o := range others {
			if s.same(o.payload, got) {
				return nil
			}
		}
	}
	if err := s.requireNoGain(h.origin, h.token, h.payload); err != nil {
		return fmt.Errorf("in a sequence: %w", err)
	}
	return nil
}

// sequencesSeeds are, for each design, two tokens, of which one is altered,
// opened before and after.
func sequencesSeeds() ([][]byte, error) {
	var seeds [][]byte
	for i := range subjects() {
		for kind := range byte(9) {
			var w program.Writer
			w.Pick(i, len(subjects()))
			w.Byte(0).Bytes([]byte("seed")).Bytes([]byte("one"))
			w.Byte(0).Bytes([]byte("seed2")).Bytes([]byte("two"))
			w.Byte(2).Byte(0).Byte(3).Byte(1)
			w.Byte(1).Byte(0).Byte(kind).Byte(anywhere).Uint16(9).Uint16(1).Byte('A')
			seeds = append(seeds, w.Byte(2).Byte(0).Byte(2).Byte(1).Program())
		}
		seeds = append(seeds, goesOn(i, len(subjects())))
	}
	return seeds, nil
}
