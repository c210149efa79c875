package targets

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"sealab/codecs"
	"sealab/fuzz/program"
	"sealab/internal/lab"
)

var readingsTarget = Target{
	Name: "readings", Layer: LayerImplementations,
	Doc:   "one wire format in two readings: they seal the same bytes, and what the strict one accepts the faithful one accepts, with the same state",
	Draws: true,
	Check: readings,
	Seeds: readingsSeeds,
}

// A pair is two readings of one format under the same secrets and options, of
// which strict has one spelling of a token and faithful does not.
type pair struct{ strict, faithful *subject }

var readingPairs = sync.OnceValue(func() []*pair {
	var all []*pair
	for _, f := range designs() {
		for _, d := range designs() {
			if d.SharesFormat(f) && promisesCanonical(d) && !promisesCanonical(f) {
				all = append(all, newPair(d, f))
			}
		}
	}
	return all
})

func promisesCanonical(d codecs.Design) bool {
	s := subject{Design: d}
	return s.holds(codecs.Canonical)
}

func newPair(strict, faithful codecs.Design) *pair {
	options, err := faithful.Choose(codecs.Config{})
	if err != nil {
		panic(fmt.Sprintf("sealab: fuzz: %s: %v", faithful.Name, err)) // its own defaults
	}
	c := codecs.Config{Secrets: secrets(faithful, 0), Options: options}
	return &pair{mustSubject(strict, c), mustSubject(faithful, c)}
}

// What readings does: seal alike, and no more; leave the steps alone; else
// rewrite steps.
const (
	alike  = 1
	asText = 2
)

// readings seals with the strict reading, rewrites steps or the text, and
// compares what the two say.
func readings(p *program.Program) error {
	r := readingPairs()[p.Pick(len(readingPairs()))]
	seed, payload := r.strict.seed(p), r.strict.payload(p)
	var token []byte
	var err error
	switch p.Pick(4) {
	case alike:
		return r.sealAlike(seed, payload)
	case asText:
		token, err = r.strict.assembler.SealSeeded(nil, seed, payload)
	default:
		var rewritten steps
		token, err = r.strict.assembler.SealEdited(nil, seed, payload, func(step lab.Step, value []byte) []byte {
			return rewritten.edit(p, step, value)
		})
	}
	if errors.Is(err, codecs.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	for range p.Few(4) {
		token = alter(p, token)
	}
	return r.compare(token)
}

// sealAlike returns an error unless both readings seal the same bytes.
func (r *pair) sealAlike(seed, payload []byte) error {
	if r.strict.assembler.SeedSize() != r.faithful.assembler.SeedSize() {
		return nil
	}
	a, errA := r.strict.assembler.SealSeeded(nil, seed, payload)
	b, errB := r.faithful.assembler.SealSeeded(nil, seed, payload)
	if (errA == nil) != (errB == nil) || !bytes.Equal(a, b) {
		return fmt.Errorf("%s seals %q as %q (%v), %s as %q (%v)", r.strict.Name, payload, a, errA, r.faithful.Name, b, errB)
	}
	return nil
}

// compare returns an error when the strict reading accepts what the faithful
// one does not, or with another state. What the strict one refuses is between the
// faithful one and targets that look at one design.
func (r *pair) compare(token []byte) error {
	strict, refused, err := r.strict.open(token)
	if err != nil || refused != nil {
		return err
	}
	faithful, refused, err := r.faithful.open(token)
	switch {
	case err != nil:
		return err
	case refused != nil:
		return fmt.Errorf("%s accepts %q and %s refuses it: %s, %s", r.strict.Name, token, r.faithful.Name, refused.Stage, refused.Reason)
	case !bytes.Equal(strict, faithful):
		return fmt.Errorf("%q is %q to %s and %q to %s", token, strict, r.strict.Name, faithful, r.faithful.Name)
	}
	return nil
}

// readingsSeeds are, for each pair, one rewriting of each step and of the text.
func readingsSeeds() ([][]byte, error) {
	var seeds [][]byte
	for i := range readingPairs() {
		begin := func() *program.Writer {
			var w program.Writer
			return w.Pick(i, len(readingPairs())).Bytes([]byte("seed")).Bytes([]byte("state"))
		}
		for step := range 8 {
			for kind := range reworks {
				seeds = append(seeds, rewrites(begin().Byte(0), step, kind).Program())
			}
		}
		for kind := range byte(14) {
			seeds = append(seeds, begin().Byte(asText).Byte(1).Byte(kind).Byte(anywhere).Uint16(20).Uint16(4).Raw([]byte("v1.A")).Program())
		}
		seeds = append(seeds, begin().Byte(alike).Program())
	}
	return begun(seeds), nil
}
