package timing

import (
	"errors"
	"math/rand/v2"

	"sealab/codecs"
	"sealab/internal/runfile"
)

// ringSize is the number of keys in the comparisons of the place in a ring.
const ringSize = 16

// A rule is one pair of inputs that must take the same time.
type rule struct {
	pair, a, b, tells string
	// refutes is the guarantee that a difference goes against. It is empty if a
	// difference does not show a secret: then it is an observation.
	refutes codecs.Property
	// onlyWith is a guarantee without which the subject of the rule is public.
	onlyWith  codecs.Property
	clustered bool
	prepare   func(d codecs.Design, random *rand.Rand) (*classes, error)
}

// policy is the list of pairs that must take the same time. Length and spelling
// may differ, since they are public.
//
// Three rules are about the cause of a refusal or the place of a key in the ring.
// The presenter of a token knows whether it was issued to them, and reads its key
// ID. If these differ in time, it is reported as an observation.
var policy = []rule{
	{pair: "tag-ends", a: "tag wrong in its first byte", b: "tag wrong in its last byte",
		tells: "how much of a guessed tag is right, so that a tag can be found byte by byte", refutes: codecs.SteadyTiming, prepare: tagEnds},
	{pair: "payload-unseal", a: "payload of one letter", b: "payload of random letters",
		tells: "the payload", refutes: codecs.SteadyTiming, onlyWith: codecs.Confidentiality, prepare: payloadUnseal},
	{pair: "payload-seal", a: "payload of one letter", b: "payload of random letters",
		tells: "the payload", refutes: codecs.SteadyTiming, onlyWith: codecs.Confidentiality, prepare: payloadSeal},
	{pair: "key-bytes", a: "one key", b: "a new key for each cluster",
		tells: "the key", refutes: codecs.SteadyTiming, clustered: true, prepare: keyBytes},
	{pair: "tag-context", a: "tag wrong", b: "tag right, minted for another target",
		tells: "whether a refused token is authentic", prepare: tagContext},
	{pair: "tag-expired", a: "tag wrong", b: "tag right, expired",
		tells: "whether a refused token is authentic", prepare: tagExpired},
	{pair: "key-id", a: "key in the ring, tag wrong", b: "key not in the ring",
		tells: "whether a key is in the ring; its id is in every token", prepare: keyID},
	{pair: "ring-place", a: "first key of sixteen", b: "last key of sixteen",
		tells: "the place of a key in the ring; its id is in every token", prepare: ringPlace},
}

// Designs returns the comparisons of every rule at every design. Preparing a comparison
// tells if its rule applies.
func Designs(all []codecs.Design) []Comparison {
	var comparisons []Comparison
	for _, d := range all {
		for _, r := range policy {
			comparisons = append(comparisons, r.comparison(d))
		}
	}
	return comparisons
}

func (r rule) comparison(d codecs.Design) Comparison {
	return Comparison{
		Probe: runfile.Probe{
			Subject: d.Name, Pair: r.pair, A: r.a, B: r.b, Tells: r.tells,
			Property: string(r.property(d)), Channel: "process",
		},
		Clustered: r.clustered,
		prepare:   func(random *rand.Rand) (*classes, error) { return r.prepare(d, random) },
	}
}

// property returns the guarantee of d that a difference refutes, if it states it.
func (r rule) property(d codecs.Design) codecs.Property {
	for _, p := range []codecs.Property{r.refutes, r.onlyWith} {
		if g, ok := d.Guarantee(p, nil); p != "" && ok && !g.Holds {
			return ""
		}
	}
	return r.refutes
}

// isNotApplicable reports whether err is that a comparison does not apply to its
// subject.
func isNotApplicable(err error) bool {
	return errors.Is(err, errNotApplicable) || errors.Is(err, codecs.ErrUnsupported)
}
