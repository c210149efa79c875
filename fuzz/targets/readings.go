package targets

import (
	"bytes"
	"fmt"
	"sync"

	"sealab/codecs"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
	"sealab/internal/lab"
)

var readingsTarget = Target{
	Name: "readings", Layer: layerImplementations,
	Doc:   "one wire format in two readings: they seal the same bytes, and what the strict one accepts the faithful one accepts, with the same state",
	Draws: true,
	Check: runReadings,
	Seeds: readingsSeeds,
}

// A readingPair is two readings of one format, under the same secrets and options. The strict
// reading accepts one encoding of a token. The faithful one accepts more.
type readingPair struct{ strict, faithful *instance }

var readingPairs = sync.OnceValue(func() []*readingPair {
	var all []*readingPair
	for _, f := range testedDesigns() {
		for _, d := range testedDesigns() {
			if d.SharesFormat(f) && claimsCanonical(d) && !claimsCanonical(f) {
				all = append(all, newPair(d, f))
			}
		}
	}
	return all
})

func claimsCanonical(d codecs.Design) bool { return newInstance(d).holds(codecs.Canonical) }

// readingOption is the name of the option that selects a reading.
const readingOption = "reading"

func newPair(strict, faithful codecs.Design) *readingPair {
	options, err := faithful.Choose(codecs.Config{})
	if err != nil {
		panic(fmt.Sprintf("%s: %v", faithful.Name, err)) // its own defaults are valid
	}
	delete(options, readingOption) // each design keeps its own reading
	c := codecs.Config{Secrets: ringSecrets(faithful, 0), Options: options}
	return &readingPair{mustOpen(strict, c), mustOpen(faithful, c)}
}

// Choices of readings. The other values edit steps.
const (
	alterAlike = 1
	asText     = 2
)

// runReadings seals with the strict reading, edits steps or alters the text, and compares the
// answers of both readings.
func runReadings(p *program.Program) error {
	r := readingPairs()[p.Pick(len(readingPairs()))]
	seed, payload := r.strict.seed(p), r.strict.payload(p)
	var token []byte
	var err error
	switch p.Pick(4) {
	case alterAlike:
		return r.sealAlike(seed, payload)
	case asText:
		token, err = r.strict.codec.SealSeeded(nil, seed, payload)
	default:
		var rewritten stepChanges
		token, err = r.strict.codec.SealEdited(nil, seed, payload, func(step lab.Step, value []byte) []byte {
			return rewritten.edit(p, step, value)
		})
	}
	if err != nil {
		return err
	}
	for range p.Few(4) {
		token = program.Alter(p, token)
	}
	return r.compare(token)
}

// sealAlike returns an error unless both readings seal the same bytes.
func (r *readingPair) sealAlike(seed, payload []byte) error {
	if r.strict.codec.SeedSize() != r.faithful.codec.SeedSize() {
		return nil
	}
	a, errA := r.strict.codec.SealSeeded(nil, seed, payload)
	if b, errB := r.faithful.codec.SealSeeded(nil, seed, payload); (errA == nil) != (errB == nil) || !bytes.Equal(a, b) {
		return harness.Fail(r.strict.Name, "two readings of a format seal differently", "%q (%v), %s %q (%v), for %q", a, errA, r.faithful.Name, b, errB, payload)
	}
	return nil
}

// compare returns an error if the strict reading accepts a token that the faithful one refuses,
// or that it opens to another state.
func (r *readingPair) compare(token []byte) error {
	strict, refused, err := r.strict.open(token)
	if err != nil || refused != nil {
		return err
	}
	faithful, refused, err := r.faithful.open(token)
	switch {
	case err != nil:
		return err
	case refused != nil:
		return harness.Fail(r.strict.Name, "the strict reading accepts a token that the SDK's refuses", "%s: %s, %s: %q", r.faithful.Name, refused.Stage, refused.Reason, token)
	case !bytes.Equal(strict, faithful):
		return harness.Fail(r.strict.Name, "two readings open a token to different states", "%q, %s %q, from %q", strict, r.faithful.Name, faithful, token)
	}
	return nil
}

// readingsSeeds returns, for each pair, one change of each step and of the text.
func readingsSeeds() ([][]byte, error) {
	var seeds [][]byte
	for i := range readingPairs() {
		begin := func() *program.Writer {
			var w program.Writer
			return w.Pick(i, len(readingPairs())).Bytes([]byte("seed")).Bytes([]byte("state"))
		}
		for step := range 8 {
			for kind := range editKinds {
				seeds = append(seeds, writeStepChange(begin().Byte(0), step, kind).Program())
			}
		}
		for kind := range byte(14) {
			seeds = append(seeds, begin().Byte(asText).Byte(1).Byte(kind).Byte(program.Anywhere).Uint16(20).Uint16(4).Raw([]byte("v1.A")).Program())
		}
		seeds = append(seeds, begin().Byte(alterAlike).Program())
	}
	return withContinuations(seeds), nil
}
