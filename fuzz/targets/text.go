package targets

import (
	"bytes"

	"sealab/fuzz/program"
)

var textTarget = Target{
	Name: "text", Layer: layerText,
	Doc:   "seals, alters the token's text, opens: only the token itself opens, and only to its payload",
	Draws: true,
	Check: runText,
	Seeds: textSeeds,
}

func runText(p *program.Program) error {
	s := pickInstance(p)
	seed, payload := s.seed(p), s.payload(p)
	token, err := s.codec.SealSeeded(nil, seed, payload)
	if err != nil {
		return err
	}
	n := p.Few(16)
	if n == 0 {
		return s.requireSame(token, payload)
	}
	altered := bytes.Clone(token)
	for range n {
		altered = program.Alter(p, altered)
	}
	if own := bytes.Equal(altered, token); own || p.Pick(8) == 1 {
		if err := s.requireSame(token, payload); err != nil || own {
			return err
		}
	}
	return s.requireNoGain(token, altered, payload)
}

// textSeeds returns, for every design, a sealed token, one alteration of each kind, and the
// tokens of the committed vectors in its place.
func textSeeds() ([][]byte, error) {
	files, err := committedVectors()
	if err != nil {
		return nil, err
	}
	return withContinuations(seedEach(instances(), func(s *instance, begin func() *program.Writer) [][]byte {
		sealed := func() *program.Writer { return begin().Bytes([]byte("seed")).Bytes([]byte("payload")) }
		own := [][]byte{sealed().Program()}
		for kind := range byte(14) {
			own = append(own, sealed().Byte(1).Byte(kind).Byte(program.Anywhere).Uint16(20).Uint16(4).Raw([]byte("v1.A")).Program())
		}
		for _, test := range files[s.Name].distinct() {
			own = append(own, begin().Bytes(test.Seed).Bytes(test.Payload).Byte(1).Byte(7).Byte(0).Bytes([]byte(test.Token)).Program())
		}
		return own
	})), nil
}
