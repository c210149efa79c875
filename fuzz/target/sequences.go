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
	Draws: true,
	Check: sequences,
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

// Operations of a sequence, of which each but the first opens a token: one that
// is altered and never opened shows nothing.
const (
	opHold   = 0 // make one
	opAlter  = 1
	opSplice = 2 // alter it by another one
	ops      = 6 // others open one as it is
)

// sequences runs operations on one design. All tokens are sealed under one key,
// so that what a design remembers of one meets the others.
func sequences(p *program.Program) error {
	s := pick(p)
	var tokens, sealed []held // those at hand, and all
	for n := operations(p); n > 0 && !p.Done(); n-- {
		op := p.Pick(ops)
		if op == opHold || len(tokens) == 0 {
			h, err := s.hold(p)
			if err != nil {
				return err
			}
			tokens, sealed = append(tokens[max(0, len(tokens)-maxHeld+1):], h), append(sealed, h)
			continue
		}
		h := &tokens[p.Pick(len(tokens))]
		switch op {
		case opAlter:
			h.change(alter(p, bytes.Clone(h.token)))
		case opSplice:
			h.change(splice(p, h.token, tokens[p.Pick(len(tokens))].origin))
		}
		if err := s.requireHeld(*h, sealed); err != nil {
			return err
		}
	}
	return nil
}

// operations reads how many operations a sequence has: few, and seldom many,
// which what shows itself only after a while needs.
func operations(p *program.Program) int {
	switch n := p.Byte(); {
	case n >= 252:
		return 32
	case n >= 240:
		return 12
	case n >= some:
		return 6
	default:
		return 2 + int(n)%3
	}
}

// some is written for six operations, as many as seeds have.
const some = 224

func (h *held) change(token []byte) {
	h.token = token
	h.altered = !bytes.Equal(token, h.origin)
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
	for i, s := range subjects() {
		var own [][]byte
		for kind := range byte(14) {
			var w program.Writer
			w.Pick(i, len(subjects())).Byte(some)
			w.Byte(opHold).Bytes([]byte("seed")).Bytes([]byte("one"))
			w.Byte(opHold).Bytes([]byte("seed2")).Bytes([]byte("two"))
			w.Byte(ops - 1).Byte(0).Byte(ops - 1).Byte(1)
			w.Byte(opAlter).Byte(0).Byte(kind).Byte(anywhere).Uint16(9).Uint16(1).Byte('A')
			own = append(own, w.Byte(ops-1).Byte(1).Program())
		}
		seeds = append(seeds, meant(s.dear, own)...)
	}
	return begun(seeds), nil
}
