package target

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/fuzz/program"
)

var insideTarget = Target{
	Name: "inside", Layer: LayerInside,
	Doc:   "seals step by step with steps rewritten, before and after authentication: what is not a token of the design is refused, and never worse",
	Run:   inside,
	Seeds: insideSeeds,
}

func inside(p *program.Program) error {
	p.Continue()
	s := pick(p)
	seed, payload := s.seed(p), s.payload(p)
	token, err := s.assembler.SealSeeded(nil, seed, payload)
	if err != nil {
		return err
	}
	var rewritten steps
	altered, err := s.assembler.SealEdited(nil, seed, payload, func(step codecs.Step, value []byte) []byte {
		return rewritten.edit(p, step, value)
	})
	if errors.Is(err, codecs.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	if !rewritten.content && !bytes.Equal(altered, token) {
		return s.requireNoGain(token, altered, payload)
	}
	return s.requireRepeatable(altered)
}

// steps remembers what an edit has touched.
type steps struct {
	content bool // a step that decides what is sealed
}

// edit rewrites one step as the program says, most steps not at all.
func (r *steps) edit(p *program.Program, step codecs.Step, value []byte) []byte {
	kind := p.Pick(12)
	if kind >= 6 {
		return value
	}
	size, text := len(value), bytes.Clone(value)
	out := rework(p, kind, value)
	switch step {
	case codecs.StepClaims, codecs.StepPayload, codecs.StepNonce, codecs.StepEnc:
		r.content = true
	case codecs.StepKeyID: // of another length, it moves the payload's border
		r.content = r.content || len(out) != size
	case codecs.StepText: // spelt in another way, it says the same
		r.content = r.content || !bytes.Equal(said(out), said(text))
	}
	return out
}

// said is what a text says to a decoder that skips what is not of the alphabet
// and does not look at spare bits.
func said(text []byte) []byte {
	characters := bytes.Map(func(c rune) rune {
		if c < utf8.RuneSelf && strings.ContainsRune(alphabet, c) {
			return c
		}
		return -1
	}, text)
	raw, _ := base64.RawURLEncoding.AppendDecode(nil, characters) // up to what is no text
	return raw
}

// rework makes one change of the given kind, below 6, to the value of a step.
func rework(p *program.Program, kind int, value []byte) []byte {
	at := 0
	if len(value) > 0 {
		at = p.Uint16() % len(value)
	}
	switch kind {
	case 0: // leave out
		return nil
	case 1: // repeat
		return append(value, bytes.Clone(value)...)
	case 2: // truncate
		return value[:at]
	case 3: // change one byte
		if len(value) > 0 {
			value[at] ^= p.Byte() | 1
		}
		return value
	case 4: // insert
		return insert(value, at, p.Bytes(64))
	default: // replace
		return bytes.Clone(p.Bytes(1024))
	}
}

// requireRepeatable returns an error unless opening a token twice gives the
// same answer, and an accepted payload can be sealed and opened again.
func (s subject) requireRepeatable(token []byte) error {
	first, refused, err := s.open(token)
	if err != nil {
		return err
	}
	second, refusedAgain, err := s.open(token)
	if err != nil {
		return err
	}
	if !sameRefusal(refused, refusedAgain) || !bytes.Equal(first, second) {
		return fmt.Errorf("%s: %q is answered in two ways", s.Name, token)
	}
	if refused != nil {
		return nil
	}
	again, err := s.codec.Seal(nil, first)
	if errors.Is(err, codecs.ErrUnsupported) {
		return nil // a faithful reading may hand over what its writer does not take
	}
	if err != nil {
		return fmt.Errorf("%s: the state %q of an accepted token cannot be sealed: %w", s.Name, first, err)
	}
	return s.requireSame(again, first)
}

// sameRefusal reports whether two answers agree on verdict, stage and reason.
func sameRefusal(a, b *codecs.RejectError) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// insideSeeds are, for every design, one rewriting of each of its steps.
func insideSeeds() ([][]byte, error) {
	var seeds [][]byte
	for i := range subjects() {
		for step := range 10 {
			for kind := range byte(6) {
				var w program.Writer
				w.Pick(i, len(subjects())).Bytes([]byte("seed")).Bytes([]byte("payload"))
				for range step {
					w.Byte(11)
				}
				seeds = append(seeds, w.Byte(kind).Uint16(1).Uint16(3).Raw([]byte("abc")).Program())
			}
		}
		seeds = append(seeds, goesOn(i, len(subjects())))
	}
	return seeds, nil
}
