package targets

import (
	"bytes"

	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
)

// A heldToken is a token with its form as sealed and its payload.
type heldToken struct {
	token, origin, payload []byte
	altered                bool
}

func (h *heldToken) change(token []byte) {
	h.token = token
	h.altered = !bytes.Equal(token, h.origin)
}

// One of the choices of hold seals a token; the others take a sealed one,
// because caches show in opening.
const (
	holdNew     = 1
	holdChoices = 4
)

func (s *instance) hold(p *program.Program) (heldToken, error) {
	if p.Pick(holdChoices) == holdNew {
		return s.seal(s.seed(p), s.payload(p))
	}
	return s.sample(p.Pick(len(samplePayloads)))
}

func (s *instance) seal(seed, payload []byte) (heldToken, error) {
	token, err := s.codec.SealSeeded(nil, seed, payload)
	return heldToken{token: token, origin: token, payload: payload}, err
}

// samplePayloads are payloads that every design can carry.
var samplePayloads = []string{`"one"`, `"two"`, `""`, `"a longer one, of more than a block of any cipher or digest, and of more than one line"`}

// sample returns the token of the sample with the given index. It is sealed
// once.
func (s *instance) sample(i int) (heldToken, error) {
	all, err := s.sampled()
	if err != nil {
		return heldToken{}, err
	}
	return all[i], nil
}

func (s *instance) sealSamples() ([]heldToken, error) {
	all := make([]heldToken, len(samplePayloads))
	for i, payload := range samplePayloads {
		var err error
		if all[i], err = s.seal(bytes.Repeat([]byte{byte(i)}, s.codec.SeedSize()), []byte(payload)); err != nil {
			return nil, harness.Fail(s.Name, "a sample cannot be sealed", "%v: %s", err, payload)
		}
	}
	return all, nil
}
