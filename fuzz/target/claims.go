package target

import (
	"errors"
	"sync"

	"sealab/codecs"
	"sealab/fuzz/program"
)

var claimsTarget = Target{
	Name: "claims", Layer: LayerInside,
	Doc:   "puts any bytes in the place of the claims, authenticated: the reader answers, twice the same, and readings of one format agree",
	Run:   claims,
	Seeds: claimsSeeds,
}

// A reader is a scheme with claims, and the pairs of readings it is strict in.
type reader struct {
	subject
	pairs  []pair
	minted []byte // claims that it writes itself
}

// readers are the schemes with a step for claims.
var readers = sync.OnceValue(func() []reader {
	var all []reader
	for _, s := range subjects() {
		if minted := s.claims(); minted != nil {
			all = append(all, reader{s, pairsOf(s), minted})
		}
	}
	return all
})

// claims returns the claims of a token of s, nil where it has none.
func (s subject) claims() (claims []byte) {
	seed := make([]byte, s.assembler.SeedSize())
	_, err := s.assembler.SealEdited(nil, seed, []byte(`"state"`), func(step codecs.Step, value []byte) []byte {
		if step == codecs.StepClaims {
			claims = append(claims, value...)
		}
		return value
	})
	if err != nil {
		return nil
	}
	return claims
}

func pairsOf(s subject) []pair {
	var all []pair
	for _, r := range readingPairs() {
		if r.strict.Name == s.Name {
			all = append(all, r)
		}
	}
	return all
}

func claims(p *program.Program) error {
	r := readers()[p.Pick(len(readers()))]
	seed := make([]byte, r.assembler.SeedSize())
	document := p.Rest()
	token, err := r.assembler.SealEdited(nil, seed, []byte(`"state"`), func(step codecs.Step, value []byte) []byte {
		if step == codecs.StepClaims {
			return append(value[:0:0], document...)
		}
		return value
	})
	if errors.Is(err, codecs.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := r.requireRepeatable(token); err != nil {
		return err
	}
	for _, pair := range r.pairs {
		if err := pair.compare(token); err != nil {
			return err
		}
	}
	return nil
}

// claimsSeeds are the claims that each reader writes, and those of the committed
// vectors.
func claimsSeeds() ([][]byte, error) {
	files, err := committed()
	if err != nil {
		return nil, err
	}
	var seeds [][]byte
	for i, r := range readers() {
		begin := func(claims []byte) []byte {
			var w program.Writer
			return w.Pick(i, len(readers())).Raw(claims).Program()
		}
		seeds = append(seeds, begin(r.minted))
		for _, claims := range files[r.Name].claims() {
			seeds = append(seeds, begin(claims))
		}
	}
	return seeds, nil
}
