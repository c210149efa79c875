package targets

import (
	"bytes"
	"fmt"

	"sealab/fuzz/program"
)

// A held token is one of a sequence, with what it was made as and what for.
type held struct {
	token, origin, payload []byte
	altered                bool
}

func (h *held) change(token []byte) {
	h.token = token
	h.altered = !bytes.Equal(token, h.origin)
}

// Of the choices of hold, the one that seals a token; others take one that is
// sealed already, since what is remembered shows itself in opening.
const (
	anew  = 1
	holds = 4
)

func (s *subject) hold(p *program.Program) (held, error) {
	if p.Pick(holds) == anew {
		return s.seal(s.seed(p), s.payload(p))
	}
	return s.sample(p.Pick(len(samples)))
}

func (s *subject) seal(seed, payload []byte) (held, error) {
	token, err := s.assembler.SealSeeded(nil, seed, payload)
	return held{token: token, origin: token, payload: payload}, err
}

// samples are payloads that any design can carry.
var samples = []string{`"one"`, `"two"`, `""`, `"a longer one, of more than a block of any cipher or digest, and of more than one line"`}

// sample returns the token of the sample with the given index, which is sealed
// once.
func (s *subject) sample(i int) (held, error) {
	all, err := s.sampled()
	if err != nil {
		return held{}, err
	}
	return all[i], nil
}

func (s *subject) sealSamples() ([]held, error) {
	all := make([]held, len(samples))
	for i, payload := range samples {
		var err error
		if all[i], err = s.seal(bytes.Repeat([]byte{byte(i)}, s.assembler.SeedSize()), []byte(payload)); err != nil {
			return nil, fmt.Errorf("%s: sealing %s: %w", s.Name, payload, err)
		}
	}
	return all, nil
}
