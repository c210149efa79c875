package targets

import (
	"bytes"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/program"
)

var sequencesTarget = Target{
	Name: "sequences", Layer: layerRelations,
	Doc:   "many tokens made, altered and opened in any order: an answer does not depend on what was opened before",
	Draws: true,
	Check: runSequences,
	Seeds: sequencesSeeds,
}

// Operations of a sequence. All but opHold open a token, because an alteration has an effect
// only then.
const (
	opHold    = 0 // make a token
	opAlter   = 1
	opSplice  = 2 // alter a token by another one
	opChoices = 4 // the remaining choice opens a token as it is
)

// runSequences runs operations on one design. All tokens are sealed under one key, so that a
// cache of the design covers all of them.
func runSequences(p *program.Program) error {
	s := pickInstance(p)
	tokens := make([]heldToken, 0, 6)
	for n := readOperationCount(p); n > 0 && !p.Done(); n-- {
		op := p.Pick(opChoices)
		if op == opHold || len(tokens) == 0 {
			h, err := s.hold(p)
			if err != nil {
				return err
			}
			tokens = append(tokens, h)
			continue
		}
		h := &tokens[p.Pick(len(tokens))]
		switch op {
		case opAlter:
			h.change(program.Alter(p, bytes.Clone(h.token)))
		case opSplice:
			h.change(spliceTokens(p, h.token, tokens[p.Pick(len(tokens))].origin))
		}
		if err := s.requireHeld(h, tokens); err != nil {
			return fmt.Errorf("in a sequence: %w", err)
		}
	}
	return nil
}

// readOperationCount reads the number of operations: usually few, rarely many.
func readOperationCount(p *program.Program) int {
	switch n := p.Byte(); {
	case n == 255:
		return 32
	case n >= 252:
		return 12
	case n >= sixOperations:
		return 6
	default:
		return 2 + int(n)%2
	}
}

// sixOperations is an input byte that means six operations, used in seeds.
const sixOperations = 240

// spliceTokens returns the beginning of one token joined to the end of another.
func spliceTokens(p *program.Program, first, second []byte) []byte {
	return append(bytes.Clone(first[:program.Place(p, first)]), second[program.Place(p, second):]...)
}

// requireHeld opens a token and checks the answer. If an alteration produced another token of
// the sequence, it must open to that token's payload.
func (s *instance) requireHeld(h *heldToken, others []heldToken) error {
	if !h.altered {
		return s.requireSame(h.token, h.payload)
	}
	for _, o := range others {
		if bytes.Equal(o.origin, h.token) {
			return s.requireSame(h.token, o.payload)
		}
	}
	got, refused, err := s.open(h.token)
	if err != nil || refused != nil {
		return err
	}
	if !s.holds(codecs.Canonical) && slices.ContainsFunc(others, func(o heldToken) bool { return s.same(o.payload, got) }) {
		return nil
	}
	return s.gain(h.origin, h.token, h.payload, got)
}

// sequencesSeeds returns, for each design, two tokens, one of which is altered, opened before
// and after the alteration.
func sequencesSeeds() ([][]byte, error) {
	return withContinuations(seedEach(instances(), func(_ *instance, begin func() *program.Writer) (own [][]byte) {
		for kind := range byte(14) {
			w := begin().Byte(sixOperations)
			w.Byte(opHold).Byte(holdNew).Bytes([]byte("seed")).Bytes([]byte("one"))
			w.Byte(opHold).Byte(0).Byte(1)
			w.Byte(opChoices - 1).Byte(0).Byte(opChoices - 1).Byte(1)
			w.Byte(opAlter).Byte(0).Byte(kind).Byte(program.Anywhere).Uint16(9).Uint16(1).Byte('A')
			own = append(own, w.Byte(opChoices-1).Byte(1).Program())
		}
		return own
	})), nil
}
