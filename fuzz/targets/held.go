package targets

import (
	"bytes"

	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
)

// A held token is one of a sequence, with its first form and its payload.
type held struct {
	token, origin, payload []byte
	altered                bool
}

func (h *held) change(token []byte) {
	h.token = token
	h.altered = !bytes.Equal(token, h.origin)
}

// One of the choices of hold seals a token; the others take a sealed one,
// because caches show in opening.
const (
	anew  = 1
	holds = 4
)

func (s *instance) hold(p *program.Program) (held, error) {
	if p.Pick(holds) == anew {
		return s.seal(s.seed(p), s.payload(p))
	}
	return s.sample(p.Pick(len(samples)))
}

func (s *instance) seal(seed, payload []byte) (held, error) {
	token, err := s.codec.SealSeeded(nil, seed, payload)
	return held{token: token, origin: token, payload: payload}, err
}

// samples are payloads that every design can carry.
var samples = []string{`"one"`, `"two"`, `""`, `"a longer one, of more than a block of any cipher or digest, and of more than one line"`}

// sample returns the token of the sample with the given index. It is sealed
// once.
func (s *instance) sample(i int) (held, error) {
	all, err := s.sampled()
	if err != nil {
		return held{}, err
	}
	return all[i], nil
}

func (s *instance) sealSamples() ([]held, error) {
	all := make([]held, len(samples))
	for i, payload := range samples {
		var err error
		if all[i], err = s.seal(bytes.Repeat([]byte{byte(i)}, s.codec.SeedSize()), []byte(payload)); err != nil {
			return nil, harness.Fail(s.Name, "a sample cannot be sealed", "%v: %s", err, payload)
		}
	}
	return all, nil
}
